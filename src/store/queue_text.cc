#include "store/queue_text.h"

#include <fmt/ranges.h>

namespace ff::store {

std::string joined(const std::vector<std::string>& tokens) { return fmt::format("{}", fmt::join(tokens, ",")); }

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> tokens;
  while (!text.empty()) {
    const auto comma = text.find(',');
    tokens.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return tokens;
}

std::string key_of(const core::Queue& queue) {
  std::string text;
  text.reserve(64);
  text.append(queue.lane_id).push_back('\0');
  text.append(queue.namespace_).push_back('\0');
  text.append(queue.execution_kind).push_back('\0');
  for (const auto& token : queue.required_capabilities) text.append(token).push_back(',');
  return text;
}

}  // namespace ff::store
