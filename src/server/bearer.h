#pragma once

// Tokens in requests.

#include "server/server.h"

namespace ff::server {

/// The token of `Authorization: Bearer <token>`, the scheme in any case; none when the header is not of that form.
std::optional<std::string_view> bearer_token(const Headers& headers);

/// Knows one token, which may do everything. What it is compared with tells nothing about it, not even by the time that
/// the comparison takes.
std::function<void(const Request&, Authenticated)> one_token(std::string_view token);

}  // namespace ff::server
