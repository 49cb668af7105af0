#include "server/http.h"

#include <algorithm>

namespace ff::server {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool same_word(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

const std::string* find_header(const Headers& headers, std::string_view name) {
  for (const auto& [known, value] : headers)
    if (same_word(known, name)) return &value;
  return nullptr;
}

bool is_printable(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

std::string media_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.starts_with(' ')) content_type.remove_prefix(1);
  while (content_type.ends_with(' ')) content_type.remove_suffix(1);
  std::string type(content_type);
  std::transform(type.begin(), type.end(), type.begin(), lower);
  return type;
}

}  // namespace ff::server
