#pragma once

// Problem documents (RFC 9457): what a refusal looks like on the wire.

#include "core/json.h"
#include "server/http.h"

namespace ff::server {

inline constexpr const char* kProblemType = "application/problem+json";

/// `Stale lease` of `stale_lease`.
std::string problem_title(ErrorCode code);

/// The document. What only the log may know is left out: texts of the store, and whatever could hold a secret. The
/// detail of a fault of our own names the request instead, by which the log has the rest.
core::json::object problem_document(const Error& error, std::string_view request_id);

/// The document as an answer, with `Retry-After` where a time is known.
Response problem_response(const Error& error, std::string_view request_id);

/// Whether the error's own text stays out of the document; it belongs into the log then.
bool is_for_the_log(const Error& error);

/// What is wrong with a described value, as `invalid_input` with `field` and `reason`.
Error input_error(const core::JsonProblem& problem);

}  // namespace ff::server
