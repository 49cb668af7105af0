#pragma once

// The texts of tokens: minted here, shown once, and never stored.

#include "core/records/api_token.h"
#include "engine/runtime.h"

namespace ff::engine {

/// What a new token may do and for how long.
struct NewToken {
  std::string name;
  std::vector<std::string> scopes;
  std::optional<std::string> namespace_;
  std::optional<std::uint64_t> ttl_ms;
};

struct MintedToken {
  core::ApiToken token;
  std::string text;
};

/// The words that a token's scopes may be.
inline constexpr std::string_view kTokenScopes[] = {"read", "submit", "signal", "worker", "operator", "admin"};

/// A text as callers present it, `ff_<id>_<secret>`, taken apart. None when it is no token of ours.
struct TokenText {
  Uuid token_id;
  std::string secret_hash;  ///< SHA-256 of the secret part, in hexadecimal
};
std::optional<TokenText> read_token_text(std::string_view text);
/// In constant time.
bool is_same_hash(std::string_view a, std::string_view b);

/// Draws an id and a secret.
MintedToken mint_token(const NewToken& request, const Uuid& token_id, Runtime& runtime);

}  // namespace ff::engine
