#include "core/hash.h"

#include "core/ids.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

TEST(Domain, T1_crc16_vectors) {
  EXPECT_EQ(crc16("123456789"), 0x31C3);
  EXPECT_EQ(crc16("default"), 54870);
  EXPECT_EQ(crc16("worker-pool-1"), 38989);
  EXPECT_EQ(crc16("a"), 31879);
  EXPECT_EQ(crc16(raw_bytes(Uuid{})), 0);
  EXPECT_EQ(crc16(raw_bytes(*Uuid::parse("550e8400-e29b-41d4-a716-446655440000"))), 36888);
  EXPECT_EQ(crc16(std::string_view("default\0order-42", 16)), 50610);
}

TEST(Domain, T1_fnv_vectors) {
  EXPECT_EQ(fnv1a64(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(fnv1a_xor8hex(""), "4fd0bfc1");
  EXPECT_EQ(fnv1a64("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(fnv1a_xor8hex("a"), "296230c0");
  EXPECT_EQ(fnv1a64("worker-1"), 0x24913ec59027ebedULL);
  EXPECT_EQ(fnv1a_xor8hex("worker-1"), "b4b6d528");
}

}  // namespace
}  // namespace ff::core
