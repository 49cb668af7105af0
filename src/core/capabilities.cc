#include "core/capabilities.h"

#include "core/errors.h"
#include "core/text.h"

#include <algorithm>

namespace ff::core {
namespace {

bool is_space_or_control(char32_t c) {
  return c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string_view broken_rule(std::string_view token) {
  if (token.empty()) return "empty_token";
  if (token.find(',') != std::string_view::npos) return "comma_in_token";
  for (std::size_t at = 0; at < token.size();) {
    const auto c = next_char(token, at);
    if (!c || is_space_or_control(*c)) return "control_or_whitespace";
  }
  return {};
}

}  // namespace

Error bad_capabilities(std::string_view side, std::string_view rule) {
  return {ErrorCode::invalid_capabilities,
          fmt::format("The list of capabilities is not valid ({}:{}). A token has no comma, space or control character; "
                      "a set has at most {} tokens and {} bytes.",
                      side, rule, kCapabilityTokensMax, kCapabilityBytesMax),
          {{"detail", fmt::format("{}:{}", side, rule)}}};
}

Result<std::vector<std::string>> normalize_capabilities(std::string_view side, std::vector<std::string> tokens) {
  for (const auto& token : tokens)
    if (auto rule = broken_rule(token); !rule.empty()) return std::unexpected(bad_capabilities(side, rule));
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  if (tokens.size() > kCapabilityTokensMax) return std::unexpected(bad_capabilities(side, "too_many_tokens"));
  std::size_t bytes = tokens.empty() ? 0 : tokens.size() - 1;
  for (const auto& token : tokens) bytes += token.size();
  if (bytes > kCapabilityBytesMax) return std::unexpected(bad_capabilities(side, "too_many_bytes"));
  return tokens;
}

}  // namespace ff::core
