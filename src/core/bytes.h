#pragma once

#include <flowfabric/ids.h>

#include <cstring>
#include <string>
#include <string_view>

namespace ff::core {

/// Numbers as bytes, the highest first, so that they sort as they count.
template <class I>
void put(std::string& out, I value) {
  for (int shift = static_cast<int>(sizeof(I)) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift));
}

template <class I>
I get(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(I); ++i) value = (value << 8) | static_cast<std::uint8_t>(bytes[at + i]);
  return static_cast<I>(value);
}

inline Uuid get_uuid(std::string_view bytes, std::size_t at) {
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), bytes.data() + at, uuid.bytes.size());
  return uuid;
}

}  // namespace ff::core
