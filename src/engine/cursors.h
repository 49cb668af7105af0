#pragma once

#include "store/store.h"

namespace ff::engine {

// Page cursors: opaque base64url of the sort key of the last item. A text that is none is `invalid_offset`.

std::string list_cursor(const store::ListPosition& position);
Result<store::ListPosition> parse_list_cursor(std::string_view text);

/// Of a list by priority, which has its own cursors.
std::string priority_cursor(const store::ListPosition& position);
Result<store::ListPosition> parse_priority_cursor(std::string_view text);

std::string number_cursor(std::int64_t number);
Result<std::int64_t> parse_number_cursor(std::string_view text);

std::string text_cursor(std::string_view text);
Result<std::string> parse_text_cursor(std::string_view text);

std::string lease_cursor(TimeMs expires_at_ms, const std::string& id);
Result<std::pair<TimeMs, std::string>> parse_lease_cursor(std::string_view text);

}  // namespace ff::engine
