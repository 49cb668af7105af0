// 05, section 8: the registry of workers.

#include "conformance/conformance.h"

namespace ff::test {
namespace {

RegisterWorker worker(const std::string& instance, std::optional<std::string> namespace_ = std::nullopt) {
  RegisterWorker request;
  request.worker_id = "pool";
  request.worker_instance_id = instance;
  request.namespace_ = std::move(namespace_);
  request.lanes = {"default"};
  return request;
}

std::vector<std::string> names_of(const Page<WorkerInfo>& page) {
  std::vector<std::string> names;
  for (const auto& item : page.items) names.push_back(item.namespace_.value_or("") + "/" + item.worker_instance_id);
  return names;
}

}  // namespace

TEST_P(Scheduling, T77_register) {
  const WorkerRegistered first = must(fabric.register_worker(worker("w1")));
  EXPECT_EQ(first, (WorkerRegistered{RegisterStatus::registered, now() + 60'000, 20'000}));
  const TimeMs at = now();
  clock->advance(1'000);
  RegisterWorker again = worker("w1");
  again.lanes = {"video", "audio", "video"};
  again.capabilities = {"gpu", "cuda"};
  again.kinds = {"resize"};
  again.liveness_ttl_ms = 90'000;
  again.max_concurrent_tasks = 8;
  again.client_version = "1.2";
  EXPECT_EQ(must(fabric.register_worker(again)), (WorkerRegistered{RegisterStatus::refreshed, now() + 90'000, 30'000}));
  const auto listed = must(fabric.workers()).items;
  ASSERT_THAT(listed, SizeIs(1));
  EXPECT_EQ(listed[0].registered_at_ms, at);
  EXPECT_EQ(listed[0].last_heartbeat_at_ms, now());
  EXPECT_THAT(listed[0].lanes, ElementsAre("video", "audio"));
  EXPECT_THAT(listed[0].capabilities, ElementsAre("cuda", "gpu"));
  EXPECT_THAT(listed[0].kinds, ElementsAre("resize"));
  EXPECT_EQ(listed[0].max_concurrent_tasks, 8U);
  EXPECT_EQ(listed[0].client_version, "1.2");

  RegisterWorker thief = worker("w1");
  thief.worker_id = "others";
  EXPECT_THAT(fabric.register_worker(thief), Refused(ErrorCode::invalid_input));
  clock->advance(90'000);
  EXPECT_EQ(must(fabric.register_worker(thief)).status, RegisterStatus::registered);
}

TEST_P(Scheduling, T77_what_a_registration_may_say) {
  auto refused = [&](auto change, ErrorCode code = ErrorCode::invalid_input) {
    RegisterWorker request = worker("w1");
    change(request);
    EXPECT_THAT(fabric.register_worker(request), Refused(code));
  };
  refused([](auto& r) { r.lanes.clear(); });
  refused([](auto& r) { r.lanes.assign(65, "x"); });
  refused([](auto& r) { r.lanes = {"bad\nlane"}; });
  refused([](auto& r) { r.worker_id = "a b"; });
  refused([](auto& r) { r.worker_instance_id = ""; });
  refused([](auto& r) { r.namespace_ = "{x}"; });
  refused([](auto& r) { r.liveness_ttl_ms = 999; });
  refused([](auto& r) { r.liveness_ttl_ms = 86'400'001; });
  refused([](auto& r) { r.kinds.assign(257, "k"); });
  refused([](auto& r) { r.client_version = std::string(257, 'v'); });
  refused([](auto& r) { r.capabilities = {"a,b"}; }, ErrorCode::invalid_capabilities);
  EXPECT_THAT(must(fabric.workers()).items, IsEmpty());
  RegisterWorker edge = worker("w1");
  edge.liveness_ttl_ms = 1'000;
  edge.lanes.clear();
  for (int i = 0; i < 64; ++i) edge.lanes.push_back("lane" + std::to_string(i));
  EXPECT_TRUE(fabric.register_worker(edge));
}

TEST_P(Scheduling, T78_heartbeat) {
  EXPECT_THAT(fabric.heartbeat({.worker_instance_id = "w1"}), Refused(ErrorCode::worker_not_found));
  must(fabric.register_worker(worker("w1")));
  clock->advance(59'999);
  EXPECT_EQ(must(fabric.heartbeat({.worker_instance_id = "w1"})).next_expiry_at_ms, now() + 60'000);
  EXPECT_THAT(fabric.heartbeat({.worker_instance_id = "w1", .namespace_ = "a"}), Refused(ErrorCode::worker_not_found));
  clock->advance(60'000);
  EXPECT_THAT(fabric.heartbeat({.worker_instance_id = "w1"}), Refused(ErrorCode::worker_not_found)) << "lapsed";
  EXPECT_THAT(must(fabric.workers()).items, IsEmpty()) << "counts as absent, swept or not";
}

TEST_P(Scheduling, T79_mark_dead) {
  must(fabric.register_worker(worker("w1")));
  const ClaimedTask task = running();
  const std::string longest(256, 'r');
  EXPECT_THAT(fabric.mark_worker_dead({.worker_instance_id = "w1", .reason = longest + "x"}),
              Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.mark_worker_dead({.worker_instance_id = "w1", .reason = "a\nb"}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(must(fabric.workers()).items, SizeIs(1)) << "a refusal changes nothing";
  EXPECT_EQ(must(fabric.workers()).items[0].leases_held, 1U);
  EXPECT_EQ(must(fabric.mark_worker_dead({.worker_instance_id = "w1", .reason = longest})), WorkerMarkedDead{0});
  EXPECT_THAT(fabric.mark_worker_dead({.worker_instance_id = "w1", .reason = "again"}), Refused(ErrorCode::worker_not_found));
  EXPECT_THAT(must(fabric.workers()).items, IsEmpty());
  EXPECT_TRUE(renew(task)) << "its leases are left alone";
}

TEST_P(Scheduling, T79_the_leases_of_the_dead_can_be_revoked) {
  must(fabric.register_worker(worker("w1")));
  for (int i = 0; i < 3; ++i) submit();
  const auto mine = claim(2, "w1");
  const auto others = claim(1, "w2");
  EXPECT_EQ(must(fabric.mark_worker_dead({.worker_instance_id = "w1", .reason = "fire", .revoke_leases = true})),
            WorkerMarkedDead{2});
  for (const auto& task : mine) EXPECT_THAT(renew(task), Refused(ErrorCode::lease_revoked));
  EXPECT_TRUE(renew(others[0]));
  EXPECT_THAT(claim(5, "w3"), SizeIs(2)) << "what it held is there for others";
}

TEST_P(Scheduling, deregister) {
  must(fabric.register_worker(worker("w1")));
  must(fabric.register_worker(worker("w1", "a")));
  const ClaimedTask task = running();
  const auto acts = must(fabric.audit()).items.size();
  must(fabric.deregister_worker({.worker_instance_id = "w1"}));
  EXPECT_THAT(names_of(must(fabric.workers())), ElementsAre("a/w1")) << "the one of the other namespace stays";
  EXPECT_TRUE(renew(task)) << "its leases are left alone";
  EXPECT_THAT(fabric.heartbeat({.worker_instance_id = "w1"}), Refused(ErrorCode::worker_not_found));
  must(fabric.deregister_worker({.worker_instance_id = "w1"}));
  must(fabric.deregister_worker({.worker_instance_id = "never-seen"}));
  EXPECT_THAT(fabric.deregister_worker({.worker_instance_id = "a b"}), Refused(ErrorCode::invalid_input));
  EXPECT_EQ(must(fabric.audit()).items.size(), acts) << "no act of an operator";
  EXPECT_EQ(must(fabric.register_worker(worker("w1"))).status, RegisterStatus::registered);
}

TEST_P(Scheduling, T80_lapsed_workers_are_swept) {
  must(fabric.register_worker(worker("w1")));
  RegisterWorker longer = worker("w2");
  longer.liveness_ttl_ms = 120'000;
  must(fabric.register_worker(longer));
  const auto before = sweep("worker_registry_ttl_sweep").processed;
  advance(60'000);
  EXPECT_EQ(sweep("worker_registry_ttl_sweep").processed, before + 1);
  EXPECT_THAT(names_of(must(fabric.workers())), ElementsAre("/w2"));
  EXPECT_EQ(must(fabric.register_worker(worker("w1"))).status, RegisterStatus::registered);
}

TEST_P(Scheduling, T81_namespaces_and_pages) {
  for (const char* namespace_ : {"b", "a"})
    for (const char* instance : {"w2", "w1"}) must(fabric.register_worker(worker(instance, namespace_)));
  must(fabric.register_worker(worker("w9")));
  EXPECT_THAT(names_of(must(fabric.workers())), ElementsAre("/w9", "a/w1", "a/w2", "b/w1", "b/w2"));
  std::vector<std::string> seen;
  ListWorkers query{.limit = 2};
  while (true) {
    const auto page = must(fabric.workers(query));
    for (const auto& name : names_of(page)) seen.push_back(name);
    if (!page.next_cursor) break;
    query.cursor = *page.next_cursor;
  }
  EXPECT_THAT(seen, ElementsAre("/w9", "a/w1", "a/w2", "b/w1", "b/w2"));
  EXPECT_THAT(names_of(must(fabric.workers({.namespace_ = "a"}))), ElementsAre("a/w1", "a/w2"));
  EXPECT_FALSE(must(fabric.workers({.limit = 5})).next_cursor) << "an exactly full last page";
  EXPECT_THAT(must(fabric.workers({.limit = 0})).items, IsEmpty());
  EXPECT_THAT(fabric.workers({.limit = 501}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.workers({.cursor = "nonsense"}), Refused(ErrorCode::invalid_offset));

  RegisterWorker elsewhere = worker("w3", "a");
  elsewhere.lanes = {"video"};
  must(fabric.register_worker(elsewhere));
  EXPECT_THAT(names_of(must(fabric.workers({.lane = "video"}))), ElementsAre("a/w3"));
  must(fabric.mark_worker_dead({.worker_instance_id = "w1", .namespace_ = "a", .reason = "x"}));
  EXPECT_THAT(names_of(must(fabric.workers({.lane = "default"}))), ElementsAre("/w9", "a/w2", "b/w1", "b/w2"));
}

TEST_P(Scheduling, T39_a_claim_is_a_sign_of_life) {
  EXPECT_THAT(claim(1, "unheard-of"), IsEmpty());
  ASSERT_TRUE(eventually([&] { return must(fabric.workers()).items.size() == 1; }));
  const WorkerInfo noted = must(fabric.workers()).items[0];
  EXPECT_EQ(noted.worker_instance_id, "unheard-of");
  EXPECT_EQ(noted.liveness_ttl_ms, 60'000U) << "twice the lease, a minute at least";
  EXPECT_THAT(noted.lanes, ElementsAre("default"));
  auto heard_at = [&] { return must(fabric.workers()).items.at(0).last_heartbeat_at_ms; };
  const TimeMs first = heard_at();
  clock->advance(19'999);
  claim(1, "unheard-of");
  must(fabric.info());
  EXPECT_EQ(heard_at(), first) << "before a third of its time it is not noted again";
  clock->advance(1);
  claim(1, "unheard-of");
  EXPECT_TRUE(eventually([&] { return heard_at() == first + 20'000; }));
}

TEST_P(Scheduling, T63_why_knows_who_is_there) {
  Submission needs = job(R"({"routing_requirements":{"required_capabilities":["gpu","cuda"]}})");
  const auto picky = submit(needs);
  const auto plain = submit();
  EXPECT_THAT(get(plain).why.text, HasSubstr("no live worker serves lane 'default'"));
  RegisterWorker request = worker("w1");
  request.capabilities = {"gpu"};
  must(fabric.register_worker(request));
  EXPECT_THAT(get(plain).why.text, HasSubstr("1 live worker can do it"));
  const Why why = get(picky).why;
  EXPECT_THAT(why.text, HasSubstr("none with all that it requires; missing: cuda"));
  ASSERT_TRUE(why.needs);
  EXPECT_THAT(why.needs->at("capabilities"), ElementsAre("cuda"));
  EXPECT_EQ(must(fabric.lanes()).items.at(0).workers, 1U);
  must(fabric.mark_worker_dead({.worker_instance_id = "w1", .reason = "x"}));
  EXPECT_THAT(get(plain).why.text, HasSubstr("no live worker"));
}

TEST_P(Scheduling, lanes_tell_how_fast_they_move) {
  for (int i = 0; i < 6; ++i) submit();
  for (const auto& task : claim(6)) must(complete(task));
  const auto lane = must(fabric.lanes()).items.at(0);
  EXPECT_NEAR(lane.claims_per_s, 0.1, 0.001);
  EXPECT_NEAR(lane.completions_per_s, 0.1, 0.001);
}

}  // namespace ff::test
