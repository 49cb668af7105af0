#include "cli/sandbox.h"

#include <gmock/gmock.h>

namespace ff::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> small(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"bench", "cycle", "--executions", "400", "--workers", "3", "--claim-max", "20"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

double figure(const boost::json::value& figures, const char* name) { return figures.at(name).to_number<double>(); }

TEST(CliBench, cycle_prints_our_figure_and_the_raw_limit) {
  Sandbox box;
  const auto figures = box.ff_json(small());
  EXPECT_EQ(figures.at("store"), "sqlite");
  EXPECT_EQ(figures.at("durability"), "full");
  for (const char* name : {"submit_per_s", "drain_per_s", "cycles_per_s", "raw_cycles_per_s", "ratio", "batch_mean",
                           "batch_p99", "claim_p50_us", "claim_p99_us", "start_p50_us", "peak_rss_mb"})
    EXPECT_GT(figure(figures, name), 0) << name;
  EXPECT_NEAR(figure(figures, "ratio"), figure(figures, "cycles_per_s") / figure(figures, "raw_cycles_per_s"), 0.01);
  EXPECT_EQ(figures.at("connections"), 1);
  EXPECT_TRUE(figures.at("first_30s_per_s").is_null());
  const auto lanes = box.ff_json({"list", "--kind", "bench", "--state", "completed", "--limit", "1000"});
  EXPECT_EQ(lanes.at("items").as_array().size(), 400U) << "every one is a whole cycle";
  EXPECT_EQ(box.ff({"check"}).code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(box.path("")))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("-raw-"))) << "the raw file is cleaned up";
}

TEST(CliBench, one_call_at_a_time) {
  Sandbox box;
  const std::string out = box.ff(small({"--sync", "--json"})).out;
  EXPECT_GT(figure(boost::json::parse(out), "cycles_per_s"), 0);
  EXPECT_THAT(out, testing::Not(HasSubstr("E"))) << "numbers are written as people write them";
}

TEST(CliBench, a_backlog_is_filled_first_and_is_no_part_of_the_figures) {
  Sandbox box;
  EXPECT_GT(figure(box.ff_json(small({"--backlog", "300"})), "cycles_per_s"), 0);
  const auto waiting = box.ff_json({"list", "--kind", "bench", "--state", "waiting", "--limit", "1000"});
  EXPECT_LE(waiting.at("items").as_array().size(), 300U);
}

TEST(CliBench, steady_state) {
  Sandbox box;
  const auto figures = box.ff_json(small({"--seconds", "2"}));
  EXPECT_GT(figure(figures, "first_30s_per_s"), 0);
  EXPECT_GT(figure(figures, "last_30s_per_s"), 0);
  EXPECT_TRUE(figures.at("submit_per_s").is_null());
}

TEST(CliBench, a_store_in_memory_has_no_raw_limit) {
  Sandbox box;
  const auto figures = box.ff_json(small({"--store", "memory:"}));
  EXPECT_TRUE(figures.at("raw_cycles_per_s").is_null());
  EXPECT_TRUE(figures.at("ratio").is_null());
}

TEST(CliBench, wrong_numbers_are_refused_before_anything_is_opened) {
  Sandbox box;
  for (const auto& [words, name] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"bench", "cycle", "--executions", "0"}, "--executions"},
           {{"bench", "cycle", "--workers", "1001"}, "--workers"},
           {{"bench", "cycle", "--claim-max", "1001"}, "--claim-max"},
           {{"bench", "cycle", "--payload-bytes", "1000001"}, "--payload-bytes"},
           {{"bench", "cycle", "--seconds", "86401"}, "--seconds"}}) {
    const Ended ended = box.ff(words);
    EXPECT_EQ(ended.code, 2) << name;
    EXPECT_THAT(ended.err, HasSubstr(name));
  }
  EXPECT_FALSE(std::filesystem::exists(box.path("flowfabric.db")));
}

TEST(CliBench, the_table_for_people) {
  Sandbox box;
  const Ended ended = box.ff(small());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("raw_cycles_per_s"));
  EXPECT_THAT(ended.out, testing::Not(HasSubstr("first_30s_per_s"))) << "figures that were not measured are left out";
}

}  // namespace
}  // namespace ff::test
