// 05, sections 2 to 4: order, queues, capabilities, claims of many.

#include "conformance/conformance.h"

#include <thread>

namespace ff::test {
namespace {

std::vector<ExecutionId> ids_of(const std::vector<ClaimedTask>& tasks) {
  std::vector<ExecutionId> ids;
  for (const auto& task : tasks) ids.push_back(task.execution.execution_id);
  return ids;
}

std::string requires_(const std::string& tokens) {
  return fmt::format(R"({{"routing_requirements": {{"required_capabilities": [{}]}}}})", tokens);
}

}  // namespace

TEST_P(Scheduling, T1_priorities) {
  std::map<int, ExecutionId> by_priority;
  for (int priority : {10, 1'000, 100}) {
    Submission submission = job();
    submission.priority = priority;
    by_priority[priority] = submit(submission);
  }
  for (int priority : {1'000, 100, 10}) EXPECT_EQ(claim().execution.execution_id, by_priority[priority]);
  EXPECT_THAT(claim(1), IsEmpty());
}

TEST_P(Scheduling, T2_older_first_then_the_smaller_uuid) {
  const auto retried = submit(R"({"retry_policy": {"backoff": {"type": "fixed", "delay_ms": 100}}})");
  must(fail(claim()));
  advance(50);
  // Equal times: the uuid decides, whatever the partition.
  Submission large = job(), small = job();
  std::swap(large.execution_id, small.execution_id);
  large.execution_id->partition = small.execution_id->partition;
  submit(large);
  submit(small);
  advance(50);
  EXPECT_THAT(ids_of(claim(10)), ElementsAre(retried, *small.execution_id, *large.execution_id))
      << "a retried execution goes ahead of younger ones";
}

TEST_P(Scheduling, T3_priorities_are_clamped) {
  Submission low = job(), high = job();
  low.priority = -5;
  high.priority = 20'000;
  EXPECT_EQ(get(submit(low)).priority, 0);
  EXPECT_EQ(get(submit(high)).priority, 9'000);
}

TEST_P(Scheduling, work_from_before_a_start_is_not_hidden_by_what_came_after_it) {
  Submission urgent = job(), later = job();
  urgent.execution_kind = "urgent";
  urgent.priority = 900;
  submit(urgent);
  restart({.poll_interval_ms = 3'600'000});
  submit(later);
  EXPECT_THAT(ids_of(claim(1)), ElementsAre(*urgent.execution_id));
  EXPECT_THAT(ids_of(claim(1)), ElementsAre(*later.execution_id));
}

TEST_P(Scheduling, T7_order_across_partitions) {
  must(fabric.configure_lane({.lane_id = "default", .fairness = LaneFairness::strict}));
  std::vector<std::tuple<int, TimeMs, ExecutionId>> members;
  for (std::uint16_t i = 0; i < 300; ++i) {
    Submission submission = job();
    submission.execution_id = next_id(static_cast<std::uint16_t>((i * 7) % 50));
    submission.priority = (i * 13) % 5;
    submit(submission);
    members.emplace_back(-*submission.priority, now(), *submission.execution_id);
    if (i % 30 == 0) clock->advance(1);
  }
  std::sort(members.begin(), members.end());
  std::vector<ExecutionId> expected, claimed;
  for (const auto& [priority, created, id] : members) expected.push_back(id);
  while (claimed.size() < expected.size()) {
    const auto some = ids_of(claim(7));
    ASSERT_THAT(some, Not(IsEmpty()));
    claimed.insert(claimed.end(), some.begin(), some.end());
  }
  EXPECT_EQ(claimed, expected);
}

TEST_P(Scheduling, T8_unsuitable_work_in_front) {
  std::vector<Submission> batch(1'000);
  for (auto& submission : batch) {
    submission.execution_kind = "job";
    submission.policy = must(parse_policy(requires_(R"("gpu")")));
  }
  const int batches = GetParam().name.starts_with("http") ? 5 : 100;  // a server adds nothing to the matter but its time
  for (int i = 0; i < batches; ++i)
    for (const auto& answer : fabric.submit_all(batch)) ASSERT_THAT(answer, Succeeds());
  advance(1'000);
  const auto plain = submit();
  EXPECT_THAT(ids_of(claim(10)), ElementsAre(plain));
  ClaimRequest with_gpu = request("w2", 5);
  with_gpu.capabilities = {"gpu"};
  EXPECT_THAT(must(fabric.claim(with_gpu)), SizeIs(5));
}

TEST_P(Scheduling, T9_unsuitable_kinds_in_front) {
  std::vector<Submission> batch(1'000);
  for (auto& submission : batch) submission.execution_kind = "a";
  for (int i = 0; i < 10; ++i)
    for (const auto& answer : fabric.submit_all(batch)) ASSERT_THAT(answer, Succeeds());
  advance(1'000);
  Submission of_kind_b = job();
  of_kind_b.execution_kind = "b";
  submit(of_kind_b);
  ClaimRequest kind_b = request("w1", 10);
  kind_b.kinds = {"b"};
  EXPECT_THAT(ids_of(must(fabric.claim(kind_b))), ElementsAre(*of_kind_b.execution_id));
}

TEST_P(Scheduling, T13_a_strict_lane_ignores_namespaces) {
  must(fabric.configure_lane({.lane_id = "default", .fairness = LaneFairness::strict}));
  std::vector<ExecutionId> a, b;
  for (int i = 0; i < 3; ++i) {
    Submission of_a = job(), of_b = job();
    of_a.namespace_ = "a";
    of_a.priority = 5;
    of_b.namespace_ = "b";
    of_b.priority = 9;
    a.push_back(submit(of_a));
    b.push_back(submit(of_b));
  }
  EXPECT_THAT(ids_of(claim(10)), ElementsAre(b[0], b[1], b[2], a[0], a[1], a[2]));
}

TEST_P(Scheduling, T15_several_lanes_in_one_call) {
  const std::vector<std::string> lanes = {"one", "two", "three"};
  for (const auto& lane : lanes)
    for (int i = 0; i < 20; ++i) {
      Submission submission = job();
      submission.lane_id = lane;
      submit(submission);
    }
  ClaimRequest nine = request("w1", 9);
  nine.lanes = lanes;
  std::map<std::string, int> given;
  for (const auto& task : must(fabric.claim(nine))) ++given[task.execution.lane_id];
  EXPECT_EQ(given, (std::map<std::string, int>{{"one", 3}, {"two", 3}, {"three", 3}}));

  ClaimRequest one = request("w2", 1);
  one.lanes = {"one", "two", "three", "one"};  // duplicates are dropped
  given.clear();
  for (int i = 0; i < 10; ++i)
    for (const auto& task : must(fabric.claim(one))) ++given[task.execution.lane_id];
  for (const auto& lane : lanes) EXPECT_GE(given[lane], 3) << lane;

  // What one lane cannot give, the others do.
  ClaimRequest rest = request("w3", 100);
  rest.lanes = {"empty", "one", "two", "three"};
  EXPECT_THAT(must(fabric.claim(rest)), SizeIs(41));
}

TEST_P(Scheduling, T16_reclaimable_and_fresh_in_one_order) {
  const auto first = submit();
  advance(10);
  const auto second = submit();
  advance(10);
  const auto third = submit();
  must(claim_named(second, "w1"));
  advance(30'001);
  const auto tasks = claim(10, "w2");
  EXPECT_THAT(ids_of(tasks), ElementsAre(first, second, third));
  EXPECT_EQ(tasks[1].kind, HandleKind::reclaimed);
  EXPECT_EQ(tasks[1].lease_epoch, 2U);
  EXPECT_EQ(tasks[0].kind, HandleKind::fresh);
}

TEST_P(Scheduling, T17_queue_class) {
  Submission plain = job();
  plain.execution_kind = "resize";
  EXPECT_EQ(get(submit(plain)).queue_class, "274c7140b7fb2251");
  for (const char* tokens : {R"("gpu", "cuda")", R"("cuda", "gpu", "cuda")"}) {
    Submission demanding = job(requires_(tokens));
    demanding.execution_kind = "resize";
    EXPECT_EQ(get(submit(demanding)).queue_class, "6f7f901360790a00");
  }
}

TEST_P(Scheduling, T18_matching) {
  const auto demanding = submit(requires_(R"("gpu", "cuda")"));
  auto claimed_with = [&](std::vector<std::string> capabilities) {
    ClaimRequest capable = request("w1", 10);
    capable.capabilities = std::move(capabilities);
    return ids_of(must(fabric.claim(capable)));
  };
  EXPECT_THAT(claimed_with({}), IsEmpty());
  EXPECT_THAT(claimed_with({"gpu"}), IsEmpty()) << "one token is missing";
  EXPECT_THAT(claimed_with({"Gpu", "cuda"}), IsEmpty()) << "byte-exact";
  EXPECT_THAT(claimed_with({"gpu", "cuda"}), ElementsAre(demanding));
  const auto again = submit(requires_(R"("gpu", "cuda")"));
  EXPECT_THAT(claimed_with({"zip", "gpu", "cuda"}), ElementsAre(again)) << "a superset";
  const auto plain = submit();
  EXPECT_THAT(claimed_with({}), ElementsAre(plain)) << "an empty requirement matches every worker";
}

TEST_P(Scheduling, T19_tokens) {
  const std::pair<std::string, std::string> bad_tokens[] = {{"a,b", "comma_in_token"},
                                                            {"a b", "control_or_whitespace"},
                                                            {"a\nb", "control_or_whitespace"},
                                                            {"a\x7f", "control_or_whitespace"},
                                                            {"a\u3000", "control_or_whitespace"},
                                                            {"", "empty_token"}};
  auto with_tokens = [&](std::vector<std::string> tokens) {
    Submission submission = job();
    submission.policy.emplace().routing_requirements.emplace().required_capabilities = std::move(tokens);
    return fabric.submit(submission);
  };
  auto worker_with = [&](std::vector<std::string> tokens) {
    ClaimRequest claim_request = request();
    claim_request.capabilities = std::move(tokens);
    return fabric.claim(claim_request);
  };
  for (const auto& [token, rule] : bad_tokens) {
    EXPECT_THAT(with_tokens({"good", token}), RefusedWith(ErrorCode::invalid_capabilities, "detail", "required:" + rule));
    EXPECT_THAT(worker_with({"good", token}), RefusedWith(ErrorCode::invalid_capabilities, "detail", "worker:" + rule));
  }
  for (const char* list : {R"("a", 1)", R"("a", null)"})
    EXPECT_THAT(parse_policy(requires_(list)),
                RefusedWith(ErrorCode::invalid_capabilities, "detail", "required:non_string_token"));

  std::vector<std::string> tokens;
  for (int i = 0; i < 256; ++i) tokens.push_back(fmt::format("t{}", i));
  EXPECT_THAT(with_tokens(tokens), Succeeds());
  EXPECT_THAT(must(worker_with(tokens)), SizeIs(1));
  tokens.push_back("one-more");
  EXPECT_THAT(with_tokens(tokens), RefusedWith(ErrorCode::invalid_capabilities, "detail", "required:too_many_tokens"));
  EXPECT_THAT(worker_with(tokens), RefusedWith(ErrorCode::invalid_capabilities, "detail", "worker:too_many_tokens"));
  const std::string half(2'047, 'x');
  EXPECT_THAT(with_tokens({half + "a", half + "bb"}),
              RefusedWith(ErrorCode::invalid_capabilities, "detail", "required:too_many_bytes"));
  EXPECT_THAT(with_tokens({half + "a", half}), Succeeds()) << "4096 bytes with the comma";
  EXPECT_THAT(must(worker_with({half + "a", half})), SizeIs(1));
  EXPECT_THAT(with_tokens({"\u6771\u4eac-gpu"}), Succeeds());
  EXPECT_THAT(must(worker_with({"\u6771\u4eac-gpu"})), SizeIs(1));
}

TEST_P(Scheduling, T20_a_bad_requirement_is_never_any_worker) {
  for (const char* json : {R"({"routing_requirements": "gpu"})", R"({"routing_requirements": {"required_capabilities": "gpu"}})",
                           R"({"routing_requirements": {"capabilities": ["gpu"]}})", R"({"routing_requirements": )"})
    EXPECT_FALSE(parse_policy(json)) << json;
  EXPECT_THAT(parse_policy(R"({"routing_requirements": "gpu"})"),
              RefusedWith(ErrorCode::invalid_policy_json, "detail", "routing_requirements:not_object"));
  EXPECT_THAT(parse_policy(R"({"routing_requirements": {"required_capabilities": "gpu"}})"),
              RefusedWith(ErrorCode::invalid_capabilities, "detail", "required:not_array"));
}

TEST_P(Scheduling, T25_reclaimable_work_needs_the_capabilities_too) {
  const auto id = submit(requires_(R"("gpu")"));
  ClaimRequest capable = request();
  capable.capabilities = {"gpu"};
  must(fabric.claim(capable));
  advance(30'001);
  EXPECT_THAT(claim(10), IsEmpty());
  capable.worker_instance_id = "w2";
  EXPECT_THAT(ids_of(must(fabric.claim(capable))), ElementsAre(id));
}

TEST_P(Scheduling, T26_concurrent_claims) {
  for (int rows : {2, 1}) {
    for (int i = 0; i < rows; ++i) submit();
    std::atomic<int> tasks = 0;
    {
      std::jthread one([&] { tasks += static_cast<int>(claim(1, "w1").size()); });
      std::jthread two([&] { tasks += static_cast<int>(claim(1, "w2").size()); });
    }
    EXPECT_EQ(tasks, rows);
  }
  std::vector<Submission> thousand(1'000);
  for (auto& submission : thousand) submission.execution_kind = "job";
  for (const auto& answer : fabric.submit_all(thousand)) ASSERT_THAT(answer, Succeeds());
  std::mutex mutex;
  std::map<ExecutionId, int> returned;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i)
      threads.emplace_back([&, i] {
        eventually([&] {
          const auto tasks = claim(7, fmt::format("w{}", i));
          std::lock_guard guard(mutex);
          for (const auto& task : tasks) ++returned[task.execution.execution_id];
          return returned.size() == 1'000;
        });
      });
  }
  EXPECT_THAT(returned, SizeIs(1'000));
  for (const auto& [id, times] : returned) EXPECT_EQ(times, 1);
}

TEST_P(Scheduling, T27_large_claims) {
  std::vector<Submission> batch(1'500);
  for (auto& submission : batch) submission.execution_kind = "job";
  for (const auto& answer : fabric.submit_all(batch)) ASSERT_THAT(answer, Succeeds());
  EXPECT_THAT(claim(1'000), SizeIs(1'000));
  EXPECT_THAT(claim(1'000), SizeIs(500));

  for (int i = 0; i < 20; ++i) {
    Submission large = job();
    large.payload = Bytes(1024 * 1024, 'x');
    submit(large);
  }
  EXPECT_THAT(claim(1'000), SizeIs(8)) << "8 MiB of payloads";
  EXPECT_THAT(claim(1'000), SizeIs(8));
  EXPECT_THAT(claim(1'000), SizeIs(4));
}

TEST_P(Scheduling, T28_arguments_of_claim) {
  auto refused = [&](auto change) {
    ClaimRequest bad = request();
    change(bad);
    EXPECT_THAT(fabric.claim(bad), Refused(ErrorCode::invalid_input));
  };
  submit();
  refused([](auto& r) { r.max = 0; });
  refused([](auto& r) { r.max = 1'001; });
  refused([](auto& r) { r.wait_ms = 60'001; });
  refused([](auto& r) { r.lease_ttl_ms = 999; });
  refused([](auto& r) { r.lease_ttl_ms = 86'400'001; });
  refused([](auto& r) { r.lanes = {}; });
  refused([](auto& r) { r.lanes = std::vector<std::string>(65, "lane"); });
  refused([](auto& r) { r.lanes = {""}; });
  refused([](auto& r) { r.worker_id = ""; });
  refused([](auto& r) { r.worker_id = "with space"; });
  refused([](auto& r) { r.worker_instance_id = std::string(257, 'x'); });
  refused([](auto& r) { r.worker_instance_id = "{braces}"; });
  refused([](auto& r) { r.namespace_ = "bad\tname"; });
  refused([](auto& r) { r.kinds = std::vector<std::string>(257, "kind"); });
  refused([](auto& r) { r.idempotency_key = std::string(513, 'k'); });
  EXPECT_THAT(claim(1), SizeIs(1)) << "nothing was touched";
}

TEST_P(Scheduling, T38_namespace_scope) {
  Submission of_a = job(), of_b = job();
  of_a.namespace_ = "a";
  of_b.namespace_ = "b";
  of_b.priority = 100;
  submit(of_b);
  submit(of_a);
  ClaimRequest scoped = request("w1", 10);
  scoped.namespace_ = "a";
  EXPECT_THAT(ids_of(must(fabric.claim(scoped))), ElementsAre(*of_a.execution_id));
  EXPECT_THAT(must(fabric.claim(scoped)), IsEmpty());
  EXPECT_THAT(ids_of(claim(10)), ElementsAre(*of_b.execution_id)) << "without a scope: all";
}

}  // namespace ff::test
