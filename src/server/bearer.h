#pragma once

// Tokens in requests.

#include "server/http.h"

namespace ff::server {

/// The token of `Authorization: Bearer <token>`, the scheme in any case; none when the header is not of that form.
std::optional<std::string_view> bearer_token(const Headers& headers);

}  // namespace ff::server
