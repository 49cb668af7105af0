#pragma once

// Who makes a call, and what they may do.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ff::server {

/// What a token may allow. `operator_` includes the first three, `admin` all.
enum class Scope : std::uint8_t { read, submit, signal, worker, operator_, admin };

class Scopes {
 public:
  constexpr Scopes() = default;
  static constexpr Scopes all() { return Scopes().with(Scope::admin); }

  constexpr Scopes with(Scope scope) const {
    Scopes more = *this;
    more.bits_ |= bit(scope);
    if (scope == Scope::operator_) more.bits_ |= bit(Scope::read) | bit(Scope::submit) | bit(Scope::signal);
    if (scope == Scope::admin) more.bits_ = ~0U;
    return more;
  }
  constexpr bool allows(Scope scope) const { return (bits_ & bit(scope)) != 0; }

 private:
  static constexpr std::uint32_t bit(Scope scope) { return 1U << static_cast<unsigned>(scope); }
  std::uint32_t bits_ = 0;
};

std::string_view name_of(Scope scope);

struct Principal {
  std::string actor = "anonymous";         ///< for the audit log: the id of the token
  std::optional<std::string> name;         ///< of the token: who created what is submitted without a creator
  std::optional<std::string> namespace_;   ///< other namespaces are as if they did not exist
  Scopes scopes = Scopes::all();
};

}  // namespace ff::server
