#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ff::core {

/// CRC16/XMODEM: polynomial 0x1021, init 0, no reflection, no final xor. Continues from `crc`.
std::uint16_t crc16(std::string_view bytes, std::uint16_t crc = 0);

/// FNV-1a, 64 bit. For spreading and digests; not security relevant.
std::uint64_t fnv1a64(std::string_view bytes);

/// Eight lower-case hex digits of the low 32 bits xor the high 32 bits of `fnv1a64`.
std::string fnv1a_xor8hex(std::string_view bytes);

}  // namespace ff::core
