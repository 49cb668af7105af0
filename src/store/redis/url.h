#pragma once

#include <flowfabric/error.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ff::store::redis {

/// Where a server listens.
struct Address {
  std::string host;
  std::uint16_t port = 6379;

  auto operator<=>(const Address&) const = default;
  std::string to_string() const;
};

/// `redis://[user[:password]@]host[:port][,host[:port]...][/db][?cluster=yes|no][&replicas=N]`, or `valkey://`.
struct Url {
  std::vector<Address> addresses;
  std::string user, password;
  int database = 0;
  std::optional<bool> cluster;  ///< unset: the server says whether it is one
  int replicas = 0;             ///< how many replicas must have a commit before it is answered

  /// `store_refused` with `invalid_url`; the sentence never repeats a password.
  static Result<Url> parse(std::string_view text);
};

}  // namespace ff::store::redis
