#pragma once

// `{"items": [...]}`: many calls in one request, each with an answer of its own.

#include "server/route.h"

namespace ff::server {

/// Each of many calls, read and as it was sent.
struct BatchItems {
  core::json::array values;
  std::vector<std::string_view> texts;
};

/// The items of a body, if it is one of many; they are taken out of it. `invalid_input` when it is but cannot be read as a whole: other members
/// beside `items`, no list, too long a list.
Result<std::optional<BatchItems>> batch_items(const Route& route, Input& body);

/// Runs every item and answers once, in their order. An item that cannot be read, or is refused, harms no other.
void run_batch(const Route& route, const Ctx& context, BatchItems items, const std::string& request_id, Answer answer);

}  // namespace ff::server
