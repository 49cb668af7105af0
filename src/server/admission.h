#pragma once

// What is decided about a request before its body is looked at.

#include "server/http.h"
#include "server/limits.h"
#include "server/route_match.h"
#include "server/target.h"

namespace ff::server {

/// Request line and headers are within their limits. Beyond them the answer is a bare 431.
bool headers_fit(const Request& request, const Limits& limits);

/// `payload_too_large` for a body that says, or shows, that it is longer than allowed.
core::Fault check_body_size(const Request& request, const Limits& limits);

/// `forbidden` with the scope that is missing.
core::Fault check_scope(const Route& route, const Principal& principal);

Error too_large(const Limits& limits);
Error unauthorized();
Error draining();

/// What the body holds, with path, query and headers put in: the input of a single call. For a route that takes many
/// and is given many, only what the body holds. It may hold views of the request's body, or have taken it.
Result<Input> read_input(const Route& route, const Match& match, const Target& target, Request& request);

/// The header `Idempotency-Key`; none when there is none. `invalid_input` when it cannot be one.
Result<std::optional<std::string>> idempotency_key(const Headers& headers);

/// How long the request itself is ready to wait.
std::uint64_t wait_ms_of(const Input& input);

}  // namespace ff::server
