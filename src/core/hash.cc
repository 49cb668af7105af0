#include "core/hash.h"

#include <array>

#include <fmt/format.h>

namespace ff::core {
namespace {

constexpr std::array<std::uint16_t, 256> make_crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (int i = 0; i < 256; ++i) {
    auto crc = static_cast<std::uint16_t>(i << 8);
    for (int bit = 0; bit < 8; ++bit)
      crc = static_cast<std::uint16_t>((crc & 0x8000) ? (crc << 1) ^ 0x1021 : crc << 1);
    table[static_cast<std::size_t>(i)] = crc;
  }
  return table;
}
constexpr auto kCrcTable = make_crc_table();

}  // namespace

std::uint16_t crc16(std::string_view bytes, std::uint16_t crc) {
  for (char c : bytes)
    crc = static_cast<std::uint16_t>((crc << 8) ^ kCrcTable[((crc >> 8) ^ static_cast<std::uint8_t>(c)) & 0xff]);
  return crc;
}

std::uint64_t fnv1a64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : bytes) {
    hash ^= static_cast<std::uint8_t>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

std::string fnv1a_xor8hex(std::string_view bytes) {
  const std::uint64_t hash = fnv1a64(bytes);
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash) ^ static_cast<std::uint32_t>(hash >> 32));
}

}  // namespace ff::core
