#pragma once

#include "core/records/queue.h"

#include <string>
#include <string_view>
#include <vector>

namespace ff::store {

/// Required capabilities as one column: tokens hold no comma, and stand sorted.
std::string joined(const std::vector<std::string>& tokens);
std::vector<std::string> split(std::string_view text);
/// What tells queues apart, as one text.
std::string key_of(const core::Queue& queue);

}  // namespace ff::store
