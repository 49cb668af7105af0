#include "core/validate.h"

#include "core/ops/change.h"
#include "core/ops/lanes.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

std::string reason(const Fault& fault) {
  if (!fault) return "";
  EXPECT_FALSE(fault->message.empty());
  return fault->code == ErrorCode::invalid_input ? std::string(fault->context.text("reason"))
                                                 : std::string(traits(fault->code).name);
}

TEST(Domain, T7_a_partition_beyond_the_data_set_is_refused) {
  Partitioning counts;
  counts.num_flow_partitions = 4;
  EXPECT_EQ(reason(check_partition({3, {}}, counts)), "");
  EXPECT_EQ(reason(check_partition({4, {}}, counts)), "partition_out_of_range");
  EXPECT_EQ(reason(check_partition({65535, {}}, counts)), "partition_out_of_range");
}

TEST(Domain, T10_lanes_have_1_to_64_printable_characters) {
  EXPECT_EQ(reason(check_lane(std::string(64, 'a'))), "");
  EXPECT_EQ(reason(check_lane("a")), "");
  EXPECT_EQ(reason(check_lane(" ~ {}")), "") << "0x20 to 0x7E, all of them";
  EXPECT_EQ(reason(check_lane("")), "empty");
  EXPECT_EQ(reason(check_lane(std::string(65, 'a'))), "too long (got 65)");
  EXPECT_EQ(reason(check_lane("bad\nlane")), "non-printable byte at index 3");
  EXPECT_EQ(reason(check_lane("\tlane")), "non-printable byte at index 0");
  EXPECT_EQ(reason(check_lane("a\x7f")), "non-printable byte at index 1");
  EXPECT_EQ(reason(check_lane("lan\xc3\xa9")), "non-printable byte at index 3");
}

TEST(Domain, T10_namespaces_and_workers) {
  for (std::string_view field : {"namespace", "worker_id", "worker_instance_id"}) {
    EXPECT_EQ(reason(check_name(field, std::string(256, 'n'))), "");
    EXPECT_EQ(reason(check_name(field, std::string(257, 'n'))), "too_long");
    EXPECT_EQ(reason(check_name(field, "")), "empty");
    EXPECT_EQ(check_name(field, "")->context.text("field"), field);
  }
  EXPECT_EQ(reason(check_name("namespace", "tenant-a.b/c:d")), "");
  EXPECT_EQ(reason(check_name("namespace", "müller")), "");
  for (std::string_view bad : {"a b", "a\tb", "a\n", "{a", "a}", "a\x7f"})
    EXPECT_EQ(reason(check_name("namespace", bad)), "bad_character") << bad;
  EXPECT_EQ(reason(check_name("namespace", std::string_view("a\0b", 3))), "bad_character");
  EXPECT_EQ(reason(check_name("namespace", "a\xff")), "not_utf8");
}

TEST(Domain, T10_kinds_may_have_spaces_but_no_controls) {
  EXPECT_EQ(reason(check_kind("execution_kind", "send mail {now}")), "");
  EXPECT_EQ(reason(check_kind("execution_kind", std::string(256, 'k'))), "");
  EXPECT_EQ(reason(check_kind("execution_kind", std::string(257, 'k'))), "too_long");
  EXPECT_EQ(reason(check_kind("execution_kind", "")), "empty");
  EXPECT_EQ(reason(check_kind("execution_kind", "a\nb")), "control_byte");
  EXPECT_EQ(reason(check_kind("execution_kind", "a\x7f")), "control_byte");
  EXPECT_EQ(reason(check_kind("execution_kind", "a\xc0\x80")), "not_utf8");
}

TEST(Domain, sizes_of_labels_and_keys_at_their_edge) {
  EXPECT_EQ(reason(check_label("reason", std::nullopt)), "");
  EXPECT_EQ(reason(check_label("reason", "")), "");
  EXPECT_EQ(reason(check_label("reason", std::string(256, 'r'))), "");
  EXPECT_EQ(reason(check_label("reason", std::string(257, 'r'))), "too_long");
  EXPECT_EQ(reason(check_label("reason", "line\nbreak")), "");
  EXPECT_EQ(reason(check_label("reason", "\xed\xa0\x80")), "not_utf8") << "half of a surrogate pair";
  EXPECT_EQ(reason(check_key("")), "");
  EXPECT_EQ(reason(check_key(std::string(512, 'k'))), "");
  EXPECT_EQ(reason(check_key(std::string(513, 'k'))), "too_long");
  EXPECT_EQ(reason(check_key("\xf8\x88\x80\x80\x80")), "not_utf8");
}

TEST(Domain, T33_tag_keys) {
  for (std::string_view good : {"tenant", "app.task_id", "a-b", "1a.x", "A", "9", "a..b", "x_"})
    EXPECT_EQ(reason(check_tag_key(good)), "") << good;
  EXPECT_EQ(reason(check_tag_key(std::string(128, 'k'))), "");
  for (std::string_view bad : {"", ".a", "-a", "_a", "a b", "a=b", "a/b", "\xc3\xa9", "a\n", "a{"})
    EXPECT_EQ(reason(check_tag_key(bad)), "invalid_tag_key") << bad;
  EXPECT_EQ(reason(check_tag_key(std::string(129, 'k'))), "invalid_tag_key");
  EXPECT_EQ(check_tag_key(".a")->context.text("key"), ".a");
}

TEST(Domain, T33_tags_at_their_edge) {
  Tags tags;
  for (int i = 0; i < 128; ++i) tags["k" + std::to_string(i)] = "v";
  EXPECT_EQ(reason(check_tags(tags)), "");
  tags["one_more"] = "v";
  EXPECT_EQ(reason(check_tags(tags)), "too_many");
  EXPECT_EQ(reason(check_tags({{"k", std::string(4096, 'v')}})), "");
  EXPECT_EQ(reason(check_tags({{"k", std::string(4097, 'v')}})), "value_too_long");
  EXPECT_EQ(reason(check_tags({{"k", ""}})), "");
  EXPECT_EQ(reason(check_tags({{"k", "\xff"}})), "not_utf8");
  EXPECT_EQ(reason(check_tags({{"good", "v"}, {"-bad", "v"}})), "invalid_tag_key");
}

TEST(Domain, sizes_of_payloads_pages_and_waits_at_their_edge) {
  EXPECT_EQ(reason(check_payload("payload", std::nullopt, 3)), "");
  EXPECT_EQ(reason(check_payload("payload", "abc", 3)), "");
  EXPECT_EQ(reason(check_payload("payload", "abcd", 3)), "payload_too_large");
  EXPECT_EQ(check_payload("payload", "abcd", 3)->context.number("limit_bytes"), 3);
  EXPECT_EQ(RuleSettings{}.payload_bytes_max, 1024U * 1024);
  EXPECT_EQ(reason(check_payload("result", std::string(1024 * 1024, 'r'), RuleSettings{}.payload_bytes_max)), "");

  EXPECT_EQ(reason(check_limit(0)), "");
  EXPECT_EQ(reason(check_limit(500)), "");
  EXPECT_EQ(reason(check_limit(501)), "out_of_range");
  EXPECT_EQ(reason(check_limit(10'000, kLeasePageMax)), "");
  EXPECT_EQ(reason(check_limit(10'001, kLeasePageMax)), "out_of_range");
  EXPECT_EQ(reason(check_wait(60'000)), "");
  EXPECT_EQ(reason(check_wait(60'001)), "out_of_range");
  EXPECT_EQ(reason(check_ttl(1'000)), "");
  EXPECT_EQ(reason(check_ttl(999)), "out_of_range");
  EXPECT_EQ(reason(check_ttl(86'400'000)), "");
  EXPECT_EQ(reason(check_ttl(86'400'001)), "out_of_range");
  EXPECT_EQ(reason(check_liveness_ttl(1'000)), "");
  EXPECT_EQ(reason(check_liveness_ttl(999)), "out_of_range");
  EXPECT_EQ(reason(check_liveness_ttl(86'400'001)), "out_of_range");
  EXPECT_EQ(kMessageBytesMax, 4096U);
  EXPECT_EQ(kBatchMax, 1000U);
}

TEST(Domain, traceparent_has_one_form) {
  const std::string good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_TRUE(is_traceparent(good));
  EXPECT_FALSE(is_traceparent(good + "0"));
  EXPECT_FALSE(is_traceparent(good.substr(1)));
  EXPECT_FALSE(is_traceparent(""));
  for (std::size_t at : {2U, 35U, 52U}) {
    std::string bad = good;
    bad[at] = '0';
    EXPECT_FALSE(is_traceparent(bad)) << at;
  }
  for (std::size_t at : {0U, 3U, 36U, 53U}) {
    std::string bad = good;
    bad[at] = 'G';
    EXPECT_FALSE(is_traceparent(bad)) << at;
    bad[at] = 'A';
    EXPECT_FALSE(is_traceparent(bad)) << "lower case only, at " << at;
  }
}

TEST(Scheduling, lane_settings_at_their_edge) {
  ConfigureLane request;
  request.lane_id = "default";
  EXPECT_EQ(reason(check_lane_settings(request)), "");
  request.namespace_weights.emplace();
  for (int i = 0; i < 1000; ++i) (*request.namespace_weights)["n" + std::to_string(i)] = 1;
  EXPECT_EQ(reason(check_lane_settings(request)), "");
  (*request.namespace_weights)["more"] = 1;
  EXPECT_EQ(reason(check_lane_settings(request)), "too_many");
  request.namespace_weights = {{"a", 1000}};
  EXPECT_EQ(reason(check_lane_settings(request)), "");
  request.namespace_weights = {{"a", 1001}};
  EXPECT_EQ(reason(check_lane_settings(request)), "out_of_range");
  request.namespace_weights = {{"a", 0}};
  EXPECT_EQ(reason(check_lane_settings(request)), "out_of_range");
  request.namespace_weights = {{"a b", 1}};
  EXPECT_EQ(reason(check_lane_settings(request)), "bad_character");
  request.namespace_weights.reset();
  request.reason = std::string(257, 'r');
  EXPECT_EQ(reason(check_lane_settings(request)), "too_long");
  request.lane_id = "";
  EXPECT_EQ(reason(check_lane_settings(request)), "empty");
}

TEST(Domain, T27_priorities_are_clamped_never_refused) {
  EXPECT_EQ(clamp_priority(-5), 0);
  EXPECT_EQ(clamp_priority(0), 0);
  EXPECT_EQ(clamp_priority(9000), 9000);
  EXPECT_EQ(clamp_priority(9001), 9000);
  EXPECT_EQ(clamp_priority(std::numeric_limits<std::int32_t>::min()), 0);
  EXPECT_EQ(clamp_priority(std::numeric_limits<std::int64_t>::max()), 9000);
}

}  // namespace
}  // namespace ff::core
