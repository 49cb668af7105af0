#pragma once

// The limits of a request.

#include <boost/describe/class.hpp>

#include <cstdint>

namespace ff::server {

inline constexpr std::uint32_t kHeadersMax = 100;
inline constexpr std::uint32_t kRequestIdBytesMax = 128;

struct Limits {
  std::uint64_t body_max_bytes = 1024 * 1024;
  std::uint64_t header_max_bytes = 16 * 1024;  ///< request line and headers together
  std::uint32_t request_timeout_ms = 30'000;   ///< beyond `wait_ms`
};
BOOST_DESCRIBE_STRUCT(Limits, (), (body_max_bytes, header_max_bytes, request_timeout_ms))

}  // namespace ff::server
