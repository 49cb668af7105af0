#include "server/target.h"

#include "core/text.h"

namespace ff::server {
namespace {

constexpr std::size_t kQueryParametersMax = 256;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// None when a percent sign is not followed by two hex digits.
std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return core::is_utf8(out) ? std::optional(std::move(out)) : std::nullopt;
}

Error bad_target(std::string_view field, std::string sentence) {
  return core::invalid_input(field, "malformed", std::move(sentence));
}

constexpr const char* kBadEscape =
    "The address has a percent sign that is not followed by two hex digits, or encodes bytes that are not UTF-8.";

}  // namespace

Result<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return std::unexpected(bad_target("path", "The path of a request begins with a slash."));
  Target target;
  const std::size_t mark = text.find('?');
  std::string_view path = text.substr(1, mark == text.npos ? text.npos : mark - 1);
  while (true) {
    const std::size_t slash = path.find('/');
    auto segment = decoded(path.substr(0, slash), false);
    if (!segment) return std::unexpected(bad_target("path", kBadEscape));
    target.segments.push_back(std::move(*segment));
    if (slash == path.npos) break;
    path.remove_prefix(slash + 1);
  }
  if (target.segments.size() == 1 && target.segments[0].empty()) target.segments.clear();
  if (mark == text.npos) return target;
  std::string_view query = text.substr(mark + 1);
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    auto name = decoded(part.substr(0, equals), true);
    auto value = decoded(equals == part.npos ? std::string_view() : part.substr(equals + 1), true);
    if (!name || !value) return std::unexpected(bad_target("query", kBadEscape));
    if (target.query.size() == kQueryParametersMax)
      return std::unexpected(core::invalid_input(
          "query", "too_many", fmt::format("The query has more than {} parameters.", kQueryParametersMax)));
    target.query.emplace_back(std::move(*name), std::move(*value));
  }
  return target;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace ff::server
