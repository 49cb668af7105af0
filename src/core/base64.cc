#include "core/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ff::core {
namespace {

using Reverse = std::array<std::int8_t, 256>;

constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr Reverse reverse_of(std::string_view alphabet) {
  Reverse table{};
  table.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return table;
}
constexpr Reverse kPlainReverse = reverse_of(kPlain), kUrlReverse = reverse_of(kUrl);

/// Without padding.
std::string encoded(std::string_view bytes, std::string_view alphabet) {
  std::string text((bytes.size() * 4 + 2) / 3, '\0');
  char* out = text.data();
  auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[at])); };
  std::size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const std::uint32_t three = (byte(at) << 16) | (byte(at + 1) << 8) | byte(at + 2);
    *out++ = alphabet[three >> 18];
    *out++ = alphabet[(three >> 12) & 63];
    *out++ = alphabet[(three >> 6) & 63];
    *out++ = alphabet[three & 63];
  }
  if (at == bytes.size()) return text;
  const bool two = at + 2 == bytes.size();
  const std::uint32_t rest = (byte(at) << 16) | (two ? byte(at + 1) << 8 : 0);
  for (int shift = 18; shift >= (two ? 6 : 12); shift -= 6) *out++ = alphabet[(rest >> shift) & 63];
  return text;
}

/// Four digits as 24 bits; negative when one of them is none.
std::int32_t four_digits(const char* text, const Reverse& reverse) {
  auto digit = [&](int at) { return std::int32_t{reverse[static_cast<unsigned char>(text[at])]}; };
  // The sign of a digit that is none stays in the result.
  return digit(0) * (1 << 18) | digit(1) * (1 << 12) | digit(2) * (1 << 6) | digit(3);
}

std::optional<std::string> decoded(std::string_view text, const Reverse& reverse) {
  const std::size_t rest = text.size() % 4;
  if (rest == 1) return std::nullopt;
  std::string bytes(text.size() * 3 / 4, '\0');
  char* out = bytes.data();
  const char* in = text.data();
  for (const char* end = in + (text.size() - rest); in != end; in += 4) {
    const std::int32_t bits = four_digits(in, reverse);
    if (bits < 0) return std::nullopt;
    *out++ = static_cast<char>(bits >> 16);
    *out++ = static_cast<char>(bits >> 8);
    *out++ = static_cast<char>(bits);
  }
  if (rest == 0) return bytes;
  // Filled up with the digit of zero; what lies behind the last whole byte must be zero too.
  std::array<char, 4> last{};
  const auto zero = static_cast<char>(std::find(reverse.begin(), reverse.end(), 0) - reverse.begin());
  last.fill(zero);
  std::copy(in, in + rest, last.begin());
  const std::int32_t bits = four_digits(last.data(), reverse);
  if (bits < 0 || (bits & (rest == 2 ? 0xffff : 0xff)) != 0) return std::nullopt;
  *out++ = static_cast<char>(bits >> 16);
  if (rest == 3) *out = static_cast<char>(bits >> 8);
  return bytes;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text = encoded(bytes, kPlain);
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return decoded(text, kPlainReverse);
}

std::string base64url(std::string_view bytes) { return encoded(bytes, kUrl); }

std::optional<std::string> from_base64url(std::string_view text) { return decoded(text, kUrlReverse); }

}  // namespace ff::core
