#include "engine/handles.h"

#include <gtest/gtest.h>

namespace ff::engine {
namespace {

// The vector of the specification (01, section 7).
constexpr std::string_view kText =
    "AQEBjwAAAABwAAAHVQ6EAOKbQdSnFkRmVUQAAAAAAAARERERERFBEYERERERERERIiIiIiIiQiKCIiIiIiIiIgAAAAAAAAABB2RlZmF1bHRn98kTapn2"
    "kkumPbcG4OWD";

core::Dataset dataset() {
  core::Dataset made;
  made.data_set_id = *Uuid::parse("018f0000-0000-7000-8000-000000000001");
  for (std::size_t i = 0; i < made.handle_key.size(); ++i) made.handle_key[i] = static_cast<std::uint8_t>(i);
  return made;
}

core::TaskHandle handle() {
  core::TaskHandle made;
  made.kind = HandleKind::fresh;
  made.execution_id = *ExecutionId::parse("{fp:7}:550e8400-e29b-41d4-a716-446655440000");
  made.attempt_index = 0;
  made.attempt_id = *Uuid::parse("11111111-1111-4111-8111-111111111111");
  made.lease_id = *Uuid::parse("22222222-2222-4222-8222-222222222222");
  made.lease_epoch = 1;
  made.lane_id = "default";
  return made;
}

const HandleSealer& sealer() {
  static const HandleSealer one(dataset());
  return one;
}

/// Why the text is refused; empty when it is not.
std::string refusal_of(std::string_view text) {
  auto opened = sealer().open(text);
  if (opened) return {};
  EXPECT_EQ(opened.error().code, ErrorCode::invalid_handle);
  return std::string(opened.error().context.text("detail"));
}

std::string bytes_of(std::string_view text) { return from_base64url(text).value(); }

TEST(Domain, T37_the_vector_of_the_specification) {
  EXPECT_EQ(sealer().seal(handle()), kText);
  auto opened = sealer().open(kText);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, handle());
}

TEST(Domain, T37_every_kind_and_the_longest_lane) {
  for (const HandleKind kind : {HandleKind::fresh, HandleKind::resumed, HandleKind::reclaimed}) {
    core::TaskHandle made = handle();
    made.kind = kind;
    made.lane_id = std::string(64, '~');
    made.attempt_index = ~0U;
    made.lease_epoch = ~0ULL;
    made.execution_id.partition = 255;
    const std::string text = sealer().seal(made);
    EXPECT_EQ(text.size(), 204U);
    EXPECT_EQ(sealer().open(text).value(), made);
  }
}

TEST(Domain, T38_every_truncation_and_one_byte_more) {
  for (std::size_t length = 0; length < kText.size(); ++length)
    EXPECT_EQ(refusal_of(kText.substr(0, length)), "malformed") << length;
  EXPECT_EQ(refusal_of(std::string(kText) + "A"), "malformed");
  EXPECT_EQ(refusal_of(std::string(kText) + "AA"), "malformed");
  EXPECT_EQ(refusal_of(base64url(bytes_of(kText) + '\0')), "malformed");
  EXPECT_EQ(refusal_of(std::string(1 << 20, 'A')), "malformed");
}

TEST(Domain, T38_every_flipped_bit) {
  const std::string good = bytes_of(kText);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const std::size_t at = bit / 8;
    std::string expected = "altered";
    if (at == 0) expected = "unsupported_version";
    if (at >= 2 && at < 10) expected = "other_data_set";
    if (at == 72) expected = "malformed";  // the length of the lane no longer fits
    EXPECT_EQ(refusal_of(base64url(flipped)), expected) << bit;
  }
}

TEST(Domain, T38_other_alphabets_and_padding) {
  for (const char wrong : {'+', '/', '=', ' ', '\0', '\xff'}) {
    std::string text(kText);
    text[50] = wrong;
    EXPECT_EQ(refusal_of(text), "malformed") << static_cast<int>(wrong);
  }
  EXPECT_EQ(refusal_of(std::string(kText) + "=="), "malformed");
  // 97 bytes leave two bits over; they must be zero, or one handle would have several texts.
  core::TaskHandle longer = handle();
  longer.lane_id = "default8";
  std::string text = sealer().seal(longer);
  ASSERT_EQ(refusal_of(text), "");
  text.back() = static_cast<char>(text.back() + 1);
  EXPECT_EQ(refusal_of(text), "malformed");
}

TEST(Domain, T38_versions_and_lengths) {
  for (const char version : {'\0', '\x02'}) {
    std::string bytes = bytes_of(kText);
    bytes[0] = version;
    EXPECT_EQ(refusal_of(base64url(bytes)), "unsupported_version");
  }
  for (const char length : {'\0', '\x41'}) {
    std::string bytes = bytes_of(kText);
    bytes[72] = length;
    EXPECT_EQ(refusal_of(base64url(bytes)), "malformed");
  }
}

TEST(Domain, T39_of_another_data_set) {
  core::Dataset other = dataset();
  other.data_set_id = *Uuid::parse("018f0000-1111-7000-8000-000000000001");
  EXPECT_EQ(HandleSealer(other).open(kText).error().context.text("detail"), "other_data_set");
  // The same eight bytes by chance, but another key.
  other = dataset();
  other.handle_key[31] ^= 1;
  EXPECT_EQ(HandleSealer(other).open(kText).error().context.text("detail"), "altered");
}

TEST(Domain, T39_fewer_partitions_than_the_handle_names) {
  core::Dataset small = dataset();
  small.partitioning.num_flow_partitions = 4;
  EXPECT_EQ(HandleSealer(small).open(kText).error().context.text("detail"), "malformed");
}

TEST(Domain, T11_a_refusal_does_not_repeat_the_handle) {
  std::string altered(kText);
  altered[60] = altered[60] == 'A' ? 'B' : 'A';
  const Error error = sealer().open(altered).error();
  EXPECT_EQ(error.to_string().find(altered.substr(0, 20)), std::string::npos);
  for (const auto& [name, detail] : error.context.items())
    if (const auto* text = std::get_if<std::string>(&detail)) {
      EXPECT_EQ(text->find(altered.substr(0, 20)), std::string::npos);
    }
}

}  // namespace
}  // namespace ff::engine
