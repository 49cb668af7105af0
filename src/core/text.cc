#include "core/text.h"

namespace ff::core {

std::optional<char32_t> next_char(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const std::size_t length = lead < 0x80 ? 1 : (lead >> 5) == 6 ? 2 : (lead >> 4) == 14 ? 3 : (lead >> 3) == 30 ? 4 : 0;
  if (length == 0 || length > text.size() - at) return std::nullopt;
  char32_t value = length == 1 ? lead : lead & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return std::nullopt;
    value = (value << 6) | (byte(at + i) & 0x3f);
  }
  // The shortest form only, no halves of surrogate pairs, nothing beyond Unicode.
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || (value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) return std::nullopt;
  at += length;
  return value;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (static_cast<unsigned char>(text[at]) < 0x80)
      ++at;
    else if (!next_char(text, at))
      return false;
  return true;
}

std::string repair_utf8(std::string text) {
  if (is_utf8(text)) return text;
  std::string repaired;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    if (next_char(text, at)) {
      repaired.append(text, from, at - from);
    } else {
      repaired += "\xef\xbf\xbd";
      ++at;
    }
  }
  return repaired;
}

std::string truncate_utf8(std::string text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string without_controls(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

}  // namespace ff::core
