#pragma once

// Tokens that open the HTTP API.

#include "core/records/document.h"

namespace ff::core {

/// A token, without the secret that it was shown with once.
struct ApiToken {
  Uuid token_id;
  std::string name;
  std::string token_hash;  ///< SHA-256 of the secret, in hexadecimal
  std::vector<std::string> scopes;
  std::optional<std::string> namespace_;
  TimeMs created_at_ms = 0;
  std::optional<TimeMs> expires_at_ms;
  std::optional<TimeMs> revoked_at_ms;
  std::optional<TimeMs> last_used_at_ms;  ///< to the minute

  bool operator==(const ApiToken&) const = default;
};
BOOST_DESCRIBE_STRUCT(ApiToken, (),
                      (token_id, name, token_hash, scopes, namespace_, created_at_ms, expires_at_ms, revoked_at_ms,
                       last_used_at_ms))

inline DocumentId token_key(const Uuid& token_id) { return {DocumentKind::api_token, token_id.to_string()}; }

/// Whether it opens anything at that time.
inline bool is_valid(const ApiToken& token, TimeMs now) {
  return !token.revoked_at_ms && (!token.expires_at_ms || *token.expires_at_ms > now);
}

}  // namespace ff::core
