// 01, sections 2 and 7: ids, partitions, data sets, handles.

#include "conformance/conformance.h"

#include "core/ids.h"

namespace ff::test {

TEST_P(Domain, T5_minted_ids) {
  std::vector<Submission> thousand(1'000);
  for (auto& submission : thousand) submission.execution_kind = "job";
  std::set<std::uint16_t> partitions;
  std::vector<Uuid> uuids;
  for (const auto& answer : fabric.submit_all(thousand)) {
    const ExecutionId id = must(answer).execution_id;
    partitions.insert(id.partition);
    uuids.push_back(id.uuid);
    EXPECT_EQ(id.uuid.bytes[6] >> 4, 7);
    EXPECT_EQ(id.partition, core::solo_partition("default", id.uuid, {}));
  }
  EXPECT_THAT(partitions, SizeIs(8)) << "lane_spread";
  EXPECT_TRUE(std::is_sorted(uuids.begin(), uuids.end()));
  EXPECT_EQ(std::set(uuids.begin(), uuids.end()).size(), uuids.size());
}

TEST_P(Domain, T5_one_key_one_partition) {
  Submission submission;
  submission.execution_kind = "job";
  submission.idempotency_key = "k";
  submission.policy = must(parse_policy(R"({"dedup_window_ms": 0})"));
  const auto first = must(fabric.submit(submission)).execution_id;
  const auto second = must(fabric.submit(submission)).execution_id;
  EXPECT_NE(first, second);
  EXPECT_EQ(first.partition, second.partition);
}

TEST_P(Domain, T7_partition_out_of_range) {
  start_over({.flow_partitions = 16});
  ExecutionId id = next_id();
  id.partition = 16;
  auto out_of_range = [](const auto& answer) {
    EXPECT_THAT(answer, RefusedWith(ErrorCode::invalid_input, "reason", "partition_out_of_range"));
  };
  Submission submission = job();
  submission.execution_id = id;
  out_of_range(fabric.submit(submission));
  out_of_range(fabric.get(id));
  out_of_range(fabric.wait(id, std::chrono::milliseconds(10)));
  out_of_range(fabric.payload(id));
  out_of_range(fabric.result(id));
  out_of_range(fabric.tag(id, "key"));
  out_of_range(fabric.attempts({.execution_id = id}));
  out_of_range(fabric.history({.execution_id = id}));
  out_of_range(fabric.cancel(id));
  out_of_range(fabric.replay(id));
  out_of_range(fabric.change_priority(id, 1));
  out_of_range(fabric.revoke_lease({.execution_id = id}));
  out_of_range(fabric.operator_complete({.execution_id = id}));
  out_of_range(fabric.operator_fail({.execution_id = id, .message = "m"}));
  out_of_range(fabric.set_tags(id, {{"key", "value"}}));
  out_of_range(fabric.remove(id));
  out_of_range(claim_named(id));
  id.partition = 15;
  EXPECT_THAT(fabric.get(id), Refused(ErrorCode::execution_not_found));
}

TEST_P(Domain, T9_partition_counts_are_fixed) {
  start_over({.flow_partitions = 128, .budget_partitions = 16, .quota_partitions = 8, .lane_spread = 4});
  const auto same = [] {
    return OpenOptions{.flow_partitions = 128, .budget_partitions = 16, .quota_partitions = 8, .lane_spread = 4};
  };
  EXPECT_THAT(try_open(same()), Succeeds());
  auto refused_with = [&](const OpenOptions& options, std::string_view detail) {
    const auto opened = try_open(options);
    EXPECT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "dataset_mismatch"));
    EXPECT_THAT(opened, RefusedWith(ErrorCode::store_refused, "detail", detail));
  };
  OpenOptions other = same();
  other.flow_partitions = 256;
  refused_with(other, "flow_partitions: stored=128, config=256");
  other = same();
  other.budget_partitions = 32;
  refused_with(other, "budget_partitions: stored=16, config=32");
  other = same();
  other.quota_partitions = 32;
  refused_with(other, "quota_partitions: stored=8, config=32");
  other = same();
  other.lane_spread = 8;
  refused_with(other, "lane_spread: stored=4, config=8");
  for (auto count : {&OpenOptions::flow_partitions, &OpenOptions::budget_partitions, &OpenOptions::quota_partitions,
                     &OpenOptions::lane_spread}) {
    other = same();
    other.*count = 0;
    EXPECT_THAT(try_open(other), Refused(ErrorCode::invalid_input));
  }
  EXPECT_THAT(try_open(same()), Succeeds());
}

TEST_P(Domain, T39_handles_belong_to_their_data_set) {
  const ClaimedTask task = running();
  World elsewhere(GetParam());
  EXPECT_THAT(elsewhere.fabric.renew({.handle = task.handle}),
              RefusedWith(ErrorCode::invalid_handle, "detail", "other_data_set"));

  restart();
  EXPECT_THAT(renew(task), Succeeds()) << "the same data set, reopened";
  const Opened other = open_another();
  EXPECT_THAT(other.fabric.renew({.handle = task.handle}), Succeeds()) << "through another process";
  EXPECT_THAT(other.fabric.complete({.handle = task.handle}), Succeeds());
}

TEST_P(Domain, T36_a_conflict_twice_is_invisible) {
  auto faults = std::make_shared<Faults>();
  restart({.sweeps = false}, with(faults));
  const auto id = submit();
  faults->conflicts = 2;
  EXPECT_THAT(fabric.change_priority(id, 7), Succeeds());
  EXPECT_EQ(faults->conflicts, 0);
  EXPECT_EQ(get(id).version, 2U);
  EXPECT_EQ(count_events(id, "operator priority_changed"), 1U);

  faults->conflicts = 2;
  EXPECT_THAT(claim(1), SizeIs(1));
  EXPECT_EQ(get(id).counters.claim_count, 1U);
}

TEST_P(Domain, T36_conflicts_without_end) {
  auto faults = std::make_shared<Faults>();
  restart({.sweeps = false}, with(faults));
  const auto id = submit();
  faults->conflicts = -1;
  EXPECT_THAT(fabric.change_priority(id, 7), Refused(ErrorCode::retry_exhausted));
  faults->conflicts = 0;
  EXPECT_EQ(get(id).version, 1U);
  EXPECT_EQ(get(id).priority, 0);
  EXPECT_THAT(events(id), IsEmpty());
  EXPECT_THAT(fabric.change_priority(id, 7), Succeeds());
}

}  // namespace ff::test
