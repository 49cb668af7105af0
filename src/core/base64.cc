#include "core/base64.h"

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
    for (int shift = 18; shift >= 0; shift -= 6) *out++ = alphabet[(three >> shift) & 63];
  }
  if (at == bytes.size()) return text;
  const bool two = at + 2 == bytes.size();
  const std::uint32_t rest = (byte(at) << 16) | (two ? byte(at + 1) << 8 : 0);
  for (int shift = 18; shift >= (two ? 6 : 12); shift -= 6) *out++ = alphabet[(rest >> shift) & 63];
  return text;
}

std::optional<std::string> decoded(std::string_view text, const Reverse& reverse) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes(text.size() * 3 / 4, '\0');
  char* out = bytes.data();
  std::uint32_t buffer = 0;
  int bits = 0;
  for (char c : text) {
    const int value = reverse[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    buffer = (buffer << 6) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      *out++ = static_cast<char>(buffer >> bits);
    }
  }
  if ((buffer & ((1U << bits) - 1)) != 0) return std::nullopt;
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
