#pragma once

// `{"items": [...]}`: many calls in one request, each with an answer of its own.

#include "server/route.h"

namespace ff::server {

/// The items of a body, if it is one of many. `invalid_input` when it is but cannot be read as a whole: other members
/// beside `items`, no list, too long a list.
Result<std::optional<std::vector<std::string_view>>> batch_items(const Route& route, const Input& body);

/// Runs every item and answers once, in their order. An item that cannot be read, or is refused, harms no other.
void run_batch(const Route& route, const Ctx& context, const std::vector<std::string_view>& items,
               const std::string& request_id, Answer answer);

}  // namespace ff::server
