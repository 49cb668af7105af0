// 02, section 15.2: lists and counts.

#include "conformance/conformance.h"

namespace ff::test {
namespace {

std::vector<ExecutionId> ids_of(const std::vector<ExecutionSummary>& items) {
  std::vector<ExecutionId> ids;
  for (const auto& item : items) ids.push_back(item.execution_id);
  return ids;
}

}  // namespace

TEST_P(Executions, T64_pages) {
  std::vector<ExecutionId> expected;
  for (std::uint16_t i = 0; i < 15; ++i) {
    if (i % 4 == 0) advance(1);  // some share their time
    Submission submission = job();
    submission.execution_id = next_id(i % 3);
    expected.insert(expected.begin(), submit(submission));
  }
  for (ListOrder order : {ListOrder::newest_first, ListOrder::oldest_first, ListOrder::priority}) {
    std::vector<ExecutionId> found;
    ListExecutions query{.limit = 5, .order = order};
    for (int page_number = 0; page_number < 3; ++page_number) {
      const auto page = must(fabric.list(query));
      EXPECT_THAT(page.items, SizeIs(5));
      for (const auto& id : ids_of(page.items)) found.push_back(id);
      EXPECT_EQ(page.next_cursor.has_value(), page_number < 2) << "the last page has no cursor";
      if (page.next_cursor) query.cursor = *page.next_cursor;
    }
    if (order != ListOrder::newest_first) std::reverse(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
  EXPECT_THAT(must(fabric.list({.limit = 0})).items, IsEmpty());
  EXPECT_FALSE(must(fabric.list({.limit = 0})).next_cursor);
  EXPECT_THAT(fabric.list({.limit = 501}), RefusedWith(ErrorCode::invalid_input, "field", "limit"));
  for (const char* cursor : {"nonsense", "AAAA", "!"})
    EXPECT_THAT(fabric.list({.cursor = cursor}), Refused(ErrorCode::invalid_offset));

  must(fabric.pause_lane("other"));
  EXPECT_THAT(fabric.list({.cursor = must(fabric.lanes({.limit = 1})).next_cursor.value()}),
              Refused(ErrorCode::invalid_offset))
      << "a cursor of another list";
}

TEST_P(Executions, T64_by_priority) {
  std::vector<std::pair<std::int32_t, ExecutionId>> submitted;
  for (std::uint16_t i = 0; i < 24; ++i) {
    if (i % 5 == 0) advance(1);
    Submission submission = job();
    submission.execution_id = next_id(i % 3);
    submission.priority = i % 4 == 3 ? 9'000 : i % 4 == 2 ? 0 : i % 4;
    submission.tags = {{"half", i % 2 == 0 ? "even" : "odd"}};
    submitted.emplace_back(*submission.priority, submit(submission));
  }
  auto change = [&](std::size_t which, std::int32_t priority) {
    must(fabric.change_priority(submitted[which].second, priority));
    submitted[which].first = priority;
  };
  change(0, 7);
  change(1, 0);
  change(3, 1);
  must(fabric.cancel(submitted[7].second));  // what has ended is listed like the others
  auto walk = [&](ListExecutions query) {
    std::vector<ExecutionId> found;
    query.order = ListOrder::priority;
    while (true) {
      const auto page = must(fabric.list(query));
      EXPECT_LE(page.items.size(), query.limit);
      for (const auto& id : ids_of(page.items)) found.push_back(id);
      if (!page.next_cursor) return found;
      EXPECT_THAT(page.items, Not(IsEmpty())) << "a cursor is only given when more follow";
      query.cursor = *page.next_cursor;
    }
  };
  std::stable_sort(submitted.begin(), submitted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ExecutionId> expected;
  for (const auto& [priority, id] : submitted) expected.push_back(id);
  const auto raised = static_cast<std::uint32_t>(
      std::count_if(submitted.begin(), submitted.end(), [](const auto& item) { return item.first > 0; }));
  for (std::uint32_t limit : {1U, 3U, raised, 23U, 24U, 500U})
    EXPECT_EQ(walk({.limit = limit}), expected) << "in pages of " << limit;

  ExecutionFilter filter{.tags = {{"half", "even"}}};
  std::vector<ExecutionId> even;
  for (const auto& id : expected)
    if (get(id).tags.at("half") == "even") even.push_back(id);
  ASSERT_THAT(even, SizeIs(12));
  EXPECT_EQ(walk({.filter = filter}), even);
  EXPECT_EQ(walk({.filter = {.state = {PublicState::cancelled}}}), std::vector{submitted[0].second});

  const auto cursor = must(fabric.list({.limit = 2})).next_cursor.value();
  EXPECT_THAT(fabric.list({.cursor = cursor, .order = ListOrder::priority}), Refused(ErrorCode::invalid_offset));
  const auto other = must(fabric.list({.limit = 2, .order = ListOrder::priority})).next_cursor.value();
  EXPECT_THAT(fabric.list({.cursor = other}), Refused(ErrorCode::invalid_offset));
}

TEST_P(Executions, T64_items) {
  Submission submission = job(R"({"priority": 3})");
  submission.namespace_ = "tenant-a";
  submission.lane_id = "other";
  submission.tags = {{"k", "v"}};
  const auto id = submit(submission);
  ExecutionSummary expected;
  expected.execution_id = id;
  expected.namespace_ = "tenant-a";
  expected.lane_id = "other";
  expected.execution_kind = "job";
  expected.public_state = PublicState::waiting;
  expected.blocking_reason = BlockingReason::waiting_for_worker;
  expected.priority = 3;
  expected.tags = submission.tags;
  expected.created_at_ms = now();
  EXPECT_THAT(list_all(), ElementsAre(expected));
  advance(10);
  const auto task = must(claim_named(id)).at(0);
  advance(10);
  must(complete(task));
  expected.public_state = PublicState::completed;
  expected.blocking_reason = BlockingReason::none;
  expected.started_at_ms = now() - 10;
  expected.completed_at_ms = now();
  expected.total_attempt_count = 1;
  EXPECT_THAT(list_all(), ElementsAre(expected));
}

TEST_P(Executions, T64_filters) {
  // 2 namespaces x 2 lanes x 2 kinds, then some of them moved on.
  std::vector<ExecutionId> all;
  const TimeMs start = now();
  for (int i = 0; i < 8; ++i) {
    Submission submission = job();
    submission.namespace_ = i & 1 ? "ns-b" : "ns-a";
    submission.lane_id = i & 2 ? "lane-b" : "lane-a";
    submission.execution_kind = i & 4 ? "kind-b" : "kind-a";
    submission.tags = {{"number", std::to_string(i)}, {"parity", i & 1 ? "odd" : "even"}};
    all.push_back(submit(submission));
    advance(10);
  }
  auto found = [&](ExecutionFilter filter) {
    std::set<int> numbers;
    for (const auto& item : list_all(std::move(filter)))
      numbers.insert(static_cast<int>(std::find(all.begin(), all.end(), item.execution_id) - all.begin()));
    return numbers;
  };
  must(claim_named(all[0], "w7"));
  must(claim_named(all[3], "w8"));
  must(fabric.cancel(all[5]));
  const ClaimedTask failing = must(claim_named(all[6], "w9")).at(0);
  must(fail(failing));

  EXPECT_THAT(found({}), SizeIs(8));
  EXPECT_THAT(found({.namespace_ = "ns-a"}), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(found({.lane = "lane-b"}), ElementsAre(2, 3, 6, 7));
  EXPECT_THAT(found({.kind = "kind-b"}), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(found({.state = {PublicState::active}}), ElementsAre(0, 3));
  EXPECT_THAT(found({.state = {PublicState::active, PublicState::cancelled}}), ElementsAre(0, 3, 5));
  EXPECT_THAT(found({.tags = {{"parity", "odd"}}}), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(found({.tags = {{"parity", "odd"}, {"number", "3"}}}), ElementsAre(3));
  EXPECT_THAT(found({.tags = {{"parity", "o"}}}), IsEmpty());
  EXPECT_THAT(found({.worker = "w7"}), ElementsAre(0));
  EXPECT_THAT(found({.worker = "w9"}), IsEmpty()) << "it holds the lease no more";
  EXPECT_THAT(found({.created_after_ms = start + 40}), ElementsAre(5, 6, 7));
  EXPECT_THAT(found({.created_before_ms = start + 20}), ElementsAre(0, 1));
  EXPECT_THAT(found({.created_after_ms = start + 10, .created_before_ms = start + 40}), ElementsAre(2, 3));
  EXPECT_THAT(found({.blocking_reason = BlockingReason::waiting_for_retry_backoff}), ElementsAre(6));
  EXPECT_THAT(found({.flow_id = Uuid{}}), IsEmpty());
  EXPECT_THAT(found({.namespace_ = "ns-b", .lane = "lane-a", .kind = "kind-a", .state = {PublicState::waiting}}),
              ElementsAre(1));
  EXPECT_THAT(found({.namespace_ = "ns-a", .tags = {{"parity", "odd"}}}), IsEmpty());
}

TEST_P(Executions, T64_a_filter_without_an_index) {
  constexpr std::size_t kMany = 25'000;
  std::vector<Submission> batch(1'000);
  for (std::size_t i = 0; i < kMany / batch.size(); ++i) {
    for (auto& submission : batch) submission.execution_kind = "job";
    if (i % 10 == 3) batch[500].execution_kind = "rare";
    for (const auto& answer : fabric.submit_all(batch)) ASSERT_THAT(answer, Succeeds());
  }
  std::size_t found = 0, pages = 0, short_pages = 0;
  ListExecutions query{.filter = {.kind = "rare"}, .limit = 50};
  while (true) {
    const auto page = must(fabric.list(query));
    ++pages;
    found += page.items.size();
    if (!page.next_cursor) break;
    short_pages += page.items.size() < 50 ? 1 : 0;
    query.cursor = *page.next_cursor;
  }
  EXPECT_EQ(found, 3U);
  EXPECT_EQ(pages, 3U) << "10,000 rows per page";
  EXPECT_EQ(short_pages, 2U);

  // And a bucket of more than 10,000 is an estimate.
  const LaneCounts counts = must(fabric.lane_counts("default"));
  EXPECT_TRUE(counts.eligible.estimate);
  EXPECT_GT(counts.eligible.value, 10'000U);
  EXPECT_FALSE(counts.active.estimate);
}

TEST_P(Executions, T64_items_that_change_between_pages) {
  std::vector<ExecutionId> expected;
  for (int i = 0; i < 12; ++i) {
    expected.insert(expected.begin(), submit());
    advance(1);
  }
  ListExecutions query{.limit = 4};
  std::vector<ExecutionId> found;
  for (int page_number = 0;; ++page_number) {
    const auto page = must(fabric.list(query));
    for (const auto& id : ids_of(page.items)) found.push_back(id);
    if (!page.next_cursor) break;
    query.cursor = *page.next_cursor;
    must(fabric.cancel(expected[static_cast<std::size_t>(page_number)]));      // one that was listed
    must(fabric.change_priority(expected[static_cast<std::size_t>(page_number) + 8], 9));  // one that is to come
    submit();                                                                // a newer one
  }
  EXPECT_EQ(found, expected);
}

TEST_P(Executions, T65_counts_and_their_bound) {
  std::vector<Submission> batch(10'000);
  for (auto& submission : batch) submission.execution_kind = "job";
  for (std::size_t i = 0; i < 10; ++i) {
    std::vector<Submission> part(batch.begin(), batch.begin() + 1'000);
    for (const auto& answer : fabric.submit_all(part)) ASSERT_THAT(answer, Succeeds());
  }
  EXPECT_EQ(must(fabric.lane_counts("default")).eligible, (Count{10'000, false}));
  submit();
  EXPECT_TRUE(must(fabric.lane_counts("default")).eligible.estimate) << "10,001 is marked";
}

TEST_P(Executions, T65_every_bucket) {
  submit();
  Submission later = job();
  later.delay_ms = 3'600'000;
  submit(later);
  must(complete(running()));
  const ClaimedTask failing = running();
  must(fail(failing));
  lost();  // 30 s later: that retry is due, too
  running();
  const ClaimedTask revoked = running();
  must(fabric.revoke_lease({.execution_id = revoked.execution.execution_id}));
  const ClaimedTask paused = running();
  must(fabric.delay({.handle = paused.handle, .delay_ms = 1'000}));
  Submission elsewhere = job();
  elsewhere.lane_id = "other";
  submit(elsewhere);

  EXPECT_EQ(must(fabric.lane_counts("default")),
            (LaneCounts{.eligible = {2, false},
                        .delayed = {2, false},
                        .active = {1, false},
                        .reclaimable = {2, false},
                        .terminal = {1, false}}));
  EXPECT_EQ(must(fabric.lane_counts("other")), (LaneCounts{.eligible = {1, false}}));
  EXPECT_THAT(fabric.lane_counts("unknown"), Refused(ErrorCode::lane_not_found));
  EXPECT_THAT(fabric.lane_counts("bad\nlane"), Refused(ErrorCode::invalid_input));
}

}  // namespace ff::test
