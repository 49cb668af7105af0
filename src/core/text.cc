#include "core/text.h"

#include <algorithm>

namespace ff::core {

std::optional<char32_t> next_char(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const std::size_t length = lead < 0x80 ? 1 : (lead >> 5) == 6 ? 2 : (lead >> 4) == 14 ? 3 : (lead >> 3) == 30 ? 4 : 0;
  if (length == 0 || at + length > text.size()) return std::nullopt;
  char32_t value = length == 1 ? lead : lead & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned char next = byte(at + i);
    if ((next & 0xc0) != 0x80) return std::nullopt;
    value = (value << 6) | (next & 0x3f);
  }
  constexpr char32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};  // by length: a shorter form exists below
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLowest[length] || value > 0x10ffff || surrogate) return std::nullopt;
  at += length;
  return value;
}

bool is_utf8(std::string_view text) {
  const auto first = std::find_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  for (auto at = static_cast<std::size_t>(first - text.begin()); at < text.size();)
    if (!next_char(text, at)) return false;
  return true;
}

std::string clean_text(std::string text, std::size_t bytes_max) {
  if (is_utf8(text)) return truncate_utf8(std::move(text), bytes_max);
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    if (next_char(text, at)) {
      clean.append(text, from, at - from);
    } else {
      clean.append("\xef\xbf\xbd");
      ++at;
    }
  }
  return truncate_utf8(std::move(clean), bytes_max);
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
