#pragma once

// Who a token belongs to: the tokens of the data set, as they were at most five seconds ago.

#include "core/records/api_token.h"
#include "core/validate.h"
#include "server/server.h"

#include <array>
#include <mutex>

namespace ff::server {

struct TokenBookOptions {
  /// Reads all tokens of the data set; required.
  std::function<void(Callback<std::vector<core::ApiToken>>)> list;
  /// Told of a use, at most once a minute for each token.
  std::function<void(const Uuid&)> note_use;
  std::function<std::int64_t()> steady_ms;    ///< required
  std::function<TimeMs()> store_ms;           ///< the store's clock, by which tokens expire; required
  std::optional<std::string> bootstrap;       ///< a token that is not stored, and may do everything
};

/// Thread-safe. What it compares with tells nothing about a token, not even by the time that the comparison takes.
class TokenBook : public std::enable_shared_from_this<TokenBook> {
 public:
  explicit TokenBook(TokenBookOptions options);

  /// Who makes the request. Waits for the store when what is known is too old, or when a token is not known that may be
  /// new.
  void authenticate(const Request& request, Authenticated done);
  /// No token has been seen since the start: there is nobody to tell apart.
  bool is_open() const;
  /// A token exists that opens something now.
  bool has_valid() const;

  /// To be called about every second: reads the tokens again before they are too old.
  void look();
  /// Reads them again now; `done` may be unset.
  void reload(std::move_only_function<void(core::Fault)> done = nullptr);

 private:
  using Waiting = std::move_only_function<void(const core::Fault&)>;

  void loaded(Result<std::vector<core::ApiToken>> tokens);
  std::optional<Principal> find(const Uuid& token_id, const std::string& secret_hash);
  bool is_due_for(const Uuid& token_id) const;
  void wait_for_reload(Waiting waiting);

  TokenBookOptions options_;
  std::array<std::uint8_t, 32> bootstrap_digest_{};

  mutable std::mutex mutex_;
  std::map<Uuid, core::ApiToken> tokens_;
  std::map<Uuid, std::int64_t> noted_at_ms_;
  bool seen_any_ = false;
  std::optional<std::int64_t> loaded_at_ms_;  ///< when the last reading that succeeded began
  std::int64_t began_at_ms_ = 0;              ///< the last reading
  bool loading_ = false;
  std::vector<Waiting> waiting_;
};

}  // namespace ff::server
