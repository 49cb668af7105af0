#include "cli/filter.h"

#include <gtest/gtest.h>

namespace ff::cli {
namespace {

TEST(CliFilter, every_word_becomes_its_filter) {
  FilterWords words;
  EXPECT_TRUE(words.empty());
  words.namespace_ = "n";
  words.lane = "l";
  words.kind = "k";
  words.flow = "550e8400-e29b-41d4-a716-446655440000";
  words.worker = "w";
  words.created_after = "10s";
  words.created_before = "1700000000000";
  words.blocking_reason = "waiting_for_delay";
  words.states = {"waiting", "failed"};
  words.tags = {"a=b", "c="};
  EXPECT_FALSE(words.empty());
  auto filter = parse_filter(words, 1'700'000'100'000);
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->namespace_, "n");
  EXPECT_EQ(filter->lane, "l");
  EXPECT_EQ(filter->kind, "k");
  EXPECT_EQ(filter->flow_id->to_string(), words.flow);
  EXPECT_EQ(filter->worker, "w");
  EXPECT_EQ(filter->created_after_ms, 1'700'000'090'000);
  EXPECT_EQ(filter->created_before_ms, 1'700'000'000'000);
  EXPECT_EQ(filter->blocking_reason, BlockingReason::waiting_for_delay);
  EXPECT_EQ(filter->state, (std::vector{PublicState::waiting, PublicState::failed}));
  EXPECT_EQ(filter->tags, (Tags{{"a", "b"}, {"c", ""}}));
}

TEST(CliFilter, an_unknown_word_is_refused_with_the_known_ones) {
  FilterWords words;
  words.states = {"done"};
  auto filter = parse_filter(words, 0);
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, ErrorCode::invalid_input);
  EXPECT_NE(filter.error().message.find("completed"), std::string::npos);

  FilterWords flow;
  flow.flow = "x";
  EXPECT_FALSE(parse_filter(flow, 0));
  FilterWords reason;
  reason.blocking_reason = "x";
  EXPECT_FALSE(parse_filter(reason, 0));
  FilterWords time;
  time.created_after = "x";
  EXPECT_FALSE(parse_filter(time, 0));
}

}  // namespace
}  // namespace ff::cli
