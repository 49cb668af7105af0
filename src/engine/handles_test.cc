#include "engine/handles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace ff::engine {
namespace {

constexpr std::string_view kVector =
    "AQEBjwAAAABwAAAHVQ6EAOKbQdSnFkRmVUQAAAAAAAARERERERFBEYERERERERERIiIiIiIiQiKCIiIiIiIiIgAAAAAAAAABB2RlZmF1bHRn98kTap"
    "n2"
    "kkumPbcG4OWD";

core::Dataset dataset() {
  core::Dataset dataset;
  dataset.data_set_id = *Uuid::parse("018f0000-0000-7000-8000-000000000001");
  std::iota(dataset.handle_key.begin(), dataset.handle_key.end(), std::uint8_t{0});
  return dataset;
}

core::TaskHandle handle() {
  core::TaskHandle handle;
  handle.execution_id = {7, *Uuid::parse("550e8400-e29b-41d4-a716-446655440000")};
  handle.attempt_id = *Uuid::parse("11111111-1111-4111-8111-111111111111");
  handle.lease_id = *Uuid::parse("22222222-2222-4222-8222-222222222222");
  handle.lease_epoch = 1;
  handle.lane_id = "default";
  return handle;
}

/// Why a text is refused; empty when it is not.
std::string refusal(std::string_view text, const HandleSealer& sealer) {
  auto opened = sealer.open(text);
  if (opened) return "";
  EXPECT_EQ(opened.error().code, ErrorCode::invalid_handle);
  return std::string(opened.error().context.text("detail"));
}
std::string refusal(std::string_view text) { return refusal(text, HandleSealer(dataset())); }

/// The bytes of the good handle with one of them set.
std::string with_byte(std::size_t at, int value) {
  std::string bytes = *from_base64url(kVector);
  bytes[at] = static_cast<char>(value);
  return base64url(bytes);
}

/// A handle whose fields are wrong although its tag is right; only the holder of the key can make one.
std::string sealed(const core::TaskHandle& wrong) { return HandleSealer(dataset()).seal(wrong); }

TEST(Domain, T37_the_vector_of_the_specification_is_sealed_and_opened) {
  const HandleSealer sealer(dataset());
  EXPECT_EQ(sealer.seal(handle()), kVector);
  auto opened = sealer.open(kVector);
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_EQ(*opened, handle());
}

TEST(Domain, T37_every_field_survives_sealing) {
  const HandleSealer sealer(dataset());
  for (auto kind : {HandleKind::fresh, HandleKind::resumed, HandleKind::reclaimed})
    for (std::size_t lane_bytes : {1, 7, 64}) {
      core::TaskHandle given = handle();
      given.kind = kind;
      given.execution_id.partition = 255;
      given.attempt_index = 0xfedcba98;
      given.lease_epoch = 0xfedcba9876543210;
      given.lane_id = std::string(lane_bytes, 'l');
      const std::string text = sealer.seal(given);
      EXPECT_EQ(text.size(), (89 + lane_bytes) * 4 / 3 + ((89 + lane_bytes) % 3 == 0 ? 0 : 1));
      auto opened = sealer.open(text);
      ASSERT_TRUE(opened) << opened.error().to_string();
      EXPECT_EQ(*opened, given);
    }
}

TEST(Domain, T38_every_truncation_and_every_extra_character_is_refused) {
  for (std::size_t size = 0; size < kVector.size(); ++size)
    EXPECT_EQ(refusal(kVector.substr(0, size)), "malformed") << size;
  for (const char* extra : {"A", "AA", "AAA", "AAAA", "=", "==", " ", "\n"})
    EXPECT_EQ(refusal(std::string(kVector) + extra), "malformed") << extra;
  EXPECT_EQ(refusal(std::string(205, 'A')), "malformed");
  EXPECT_EQ(refusal(std::string(1'000'000, 'A')), "malformed");
}

TEST(Domain, T38_every_flipped_bit_is_refused_for_the_right_reason) {
  const std::string good = *from_base64url(kVector);
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string expected = "altered";
      if (at == 0) expected = "unsupported_version";
      if (at >= 2 && at < 10) expected = "other_data_set";
      if (at == 72) expected = "malformed";  // the length no longer fits
      EXPECT_EQ(refusal(with_byte(at, good[at] ^ (1 << bit))), expected) << "byte " << at << ", bit " << bit;
    }
}

TEST(Domain, T38_characters_outside_the_alphabet_and_trailing_bits_are_refused) {
  for (char c : {'+', '/', '=', ' ', '.', '\0', '\x80'}) {
    std::string text(kVector);
    text[40] = c;
    EXPECT_EQ(refusal(text), "malformed") << static_cast<int>(c);
  }
  // A lane of eight bytes makes 97 bytes and leaves four bits of the last character unused.
  core::TaskHandle given = handle();
  given.lane_id = "eight888";
  std::string text = sealed(given);
  EXPECT_EQ(refusal(text), "");
  ASSERT_THAT(std::string("AQgw"), ::testing::HasSubstr(std::string(1, text.back())));
  ++text.back();
  EXPECT_EQ(refusal(text), "malformed");
}

TEST(Domain, T38_versions_and_lane_lengths_are_checked_before_the_tag) {
  EXPECT_EQ(refusal(with_byte(0, 0)), "unsupported_version");
  EXPECT_EQ(refusal(with_byte(0, 2)), "unsupported_version");
  EXPECT_EQ(refusal(with_byte(72, 0)), "malformed");
  EXPECT_EQ(refusal(with_byte(72, 65)), "malformed");
  EXPECT_EQ(refusal(with_byte(72, 255)), "malformed");
}

TEST(Domain, T38_a_good_tag_does_not_make_bad_fields_good) {
  core::TaskHandle wrong = handle();
  wrong.kind = static_cast<HandleKind>(4);
  EXPECT_EQ(refusal(sealed(wrong)), "malformed");
  wrong = handle();
  wrong.kind = static_cast<HandleKind>(0);
  EXPECT_EQ(refusal(sealed(wrong)), "malformed");
  wrong = handle();
  wrong.lane_id = "a\nb";
  EXPECT_EQ(refusal(sealed(wrong)), "malformed");
  wrong = handle();
  wrong.execution_id.partition = 256;
  EXPECT_EQ(refusal(sealed(wrong)), "malformed");
}

TEST(Domain, T39_a_handle_belongs_to_one_data_set) {
  core::Dataset other = dataset();
  other.data_set_id = *Uuid::parse("018f0000-0000-7001-8000-000000000001");
  EXPECT_EQ(refusal(kVector, HandleSealer(other)), "other_data_set");

  core::Dataset other_key = dataset();
  other_key.handle_key[31] ^= 1;
  EXPECT_EQ(refusal(kVector, HandleSealer(other_key)), "altered");

  EXPECT_EQ(refusal(kVector, HandleSealer(dataset())), "") << "opened again, the same data set accepts it";
}

TEST(Handles, a_refusal_does_not_show_the_handle) {
  auto opened = HandleSealer(dataset()).open(with_byte(20, 1));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().to_string(), ::testing::Not(::testing::HasSubstr(std::string(kVector.substr(0, 10)))));
}

TEST(Handles, base64url_round_trips_every_length_and_byte) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    const std::string text = base64url(bytes);
    EXPECT_EQ(text.find_first_of("+/="), std::string::npos);
    EXPECT_EQ(from_base64url(text), bytes) << i;
    bytes.push_back(static_cast<char>(i * 7));
  }
  EXPECT_EQ(base64url("\xfb\xff\xfe"), "-__-");
  EXPECT_EQ(from_base64url("A"), std::nullopt);
  EXPECT_EQ(from_base64url("AB"), std::nullopt) << "trailing bits";
  EXPECT_EQ(from_base64url("AA=="), std::nullopt);
}

TEST(Handles, sha256_is_the_standard_one) {
  const auto digest = sha256("abc");
  const std::string_view bytes(reinterpret_cast<const char*>(digest.data()), digest.size());
  EXPECT_EQ(base64url(bytes), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
}

}  // namespace
}  // namespace ff::engine
