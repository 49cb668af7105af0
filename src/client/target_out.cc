#include "client/target_out.h"

namespace ff::client {

void append_encoded(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

void TargetOut::add(std::string_view name, std::string_view value) {
  text_ += std::exchange(has_query_, true) ? '&' : '?';
  append_encoded(text_, name);
  text_ += '=';
  append_encoded(text_, value);
}

void TargetOut::add_page(const std::string& cursor, std::uint32_t limit) {
  if (!cursor.empty()) add("cursor", std::string_view(cursor));
  add("limit", limit);
}

}  // namespace ff::client
