#include "core/ops/workers.h"

#include "support/rules.h"

#include <gmock/gmock.h>

namespace ff::core {
namespace {

using test::kStart;
using test::Rules;
using testing::ElementsAre;
using testing::HasSubstr;

class WorkersTest : public ::testing::Test {
 protected:
  WorkerEvents events() { return {Uuid::parse(fmt::format("00000000-0000-7000-8000-{:012}", ++events_)).value(), 1'000'000}; }
  static WorkerRecord worker(std::string instance = "w-1", std::string namespace_ = "") {
    WorkerRecord made;
    made.worker_id = "pool";
    made.worker_instance_id = std::move(instance);
    made.namespace_ = std::move(namespace_);
    made.lanes = {"default"};
    made.liveness_ttl_ms = 60'000;
    return made;
  }
  WorkerRegistered enter(WorkerRecord record = worker()) { return rules.must(RegisterWorkerOp{std::move(record), events()}); }
  WorkerRecord stored(const std::string& instance = "w-1", const std::string& namespace_ = "") {
    const Document* document = rules.set.document(worker_key(namespace_, instance));
    EXPECT_TRUE(document);
    return document ? read_document<WorkerRecord>(*document).value() : WorkerRecord{};
  }
  std::vector<std::string> told() {
    std::vector<std::string> kinds;
    for (const auto& slot : rules.set.documents().slots())
      if (slot.key.kind == DocumentKind::worker_event && slot.value)
        kinds.emplace_back(name_of(read_document<WorkerEventRecord>(*slot.value)->event_kind));
    return kinds;
  }
  std::string reason_of_the_last() {
    std::string reason;
    for (const auto& slot : rules.set.documents().slots())
      if (slot.key.kind == DocumentKind::worker_event && slot.value)
        reason = read_document<WorkerEventRecord>(*slot.value)->reason.value_or("");
    return reason;
  }

  Rules rules;
  int events_ = 0;
};

TEST_F(WorkersTest, T77_registering_again_refreshes_and_keeps_the_first_time) {
  const WorkerRegistered first = enter();
  EXPECT_EQ(first.status, RegisterStatus::registered);
  EXPECT_EQ(first.next_expiry_at_ms, kStart + 60'000);
  EXPECT_EQ(first.heartbeat_after_ms, 20'000U);
  rules.now += 59'999;
  WorkerRecord other = worker();
  other.lanes = {"video"};
  EXPECT_EQ(enter(other).status, RegisterStatus::refreshed);
  EXPECT_EQ(stored().registered_at_ms, kStart);
  EXPECT_EQ(stored().last_heartbeat_at_ms, rules.now);
  EXPECT_THAT(stored().lanes, ElementsAre("video"));
  EXPECT_THAT(told(), ElementsAre("registered", "registered"));

  WorkerRecord thief = worker();
  thief.worker_id = "others";
  const Error error = rules.refused(RegisterWorkerOp{thief, events()});
  EXPECT_EQ(error.code, ErrorCode::invalid_input);
  EXPECT_EQ(error.context.text("reason"), "instance_id reassigned");
  rules.now += 60'000;
  EXPECT_EQ(enter(thief).status, RegisterStatus::registered) << "the one before has lapsed";
  EXPECT_EQ(stored().registered_at_ms, rules.now);
}

TEST_F(WorkersTest, T78_a_heartbeat_moves_the_expiry_and_revives_nobody) {
  const HeartbeatWorkerOp beat{"", "w-1", events()};
  EXPECT_EQ(rules.refused(beat).code, ErrorCode::worker_not_found) << "unknown";
  enter();
  rules.now += 59'999;
  EXPECT_EQ(rules.must(beat).next_expiry_at_ms, rules.now + 60'000);
  rules.now += 60'000;
  EXPECT_EQ(rules.refused(beat).code, ErrorCode::worker_not_found) << "lapsed to the millisecond";
  enter();
  rules.must(MarkWorkerDeadOp{{}, "", "w-1", "gone", events()});
  EXPECT_EQ(rules.refused(beat).code, ErrorCode::worker_not_found) << "dead";
}

TEST_F(WorkersTest, T80_heartbeats_of_a_minute_are_one_event) {
  enter();
  for (int i = 0; i < 12; ++i) {
    rules.now += 10'000;
    rules.must(HeartbeatWorkerOp{"", "w-1", events()});
  }
  EXPECT_THAT(told(), ElementsAre("registered", "heartbeat", "heartbeat"));
}

TEST_F(WorkersTest, T80_of_a_sweep_and_an_operator_one_removes_it) {
  enter();
  rules.must(MarkWorkerDeadOp{{}, "", "w-1", "broken", events()});
  rules.now += 120'000;
  EXPECT_FALSE(rules.must(SweepWorker{worker_key("", "w-1"), events()}));
  EXPECT_THAT(told(), ElementsAre("registered", "marked_dead"));
  enter(worker("w-2"));
  rules.now += 60'000;
  EXPECT_TRUE(rules.must(SweepWorker{worker_key("", "w-2"), events()}));
  EXPECT_EQ(rules.refused(MarkWorkerDeadOp{{}, "", "w-2", "x", events()}).code, ErrorCode::worker_not_found);
  EXPECT_THAT(told(), ElementsAre("registered", "marked_dead", "registered", "ttl_swept"));
}

TEST_F(WorkersTest, who_ends_in_order_takes_itself_off_the_list) {
  enter();
  enter(worker("w-2"));
  const std::size_t operator_events = rules.set.events().size();
  rules.must(DeregisterWorkerOp{"", "w-1", events()});
  EXPECT_FALSE(rules.set.document(worker_key("", "w-1")));
  EXPECT_EQ(stored("w-2").worker_id, "pool") << "the others stay";
  EXPECT_EQ(reason_of_the_last(), "shutdown");
  EXPECT_EQ(rules.set.events().size(), operator_events) << "no operator did it";
  rules.must(DeregisterWorkerOp{"", "w-1", events()});
  rules.must(DeregisterWorkerOp{"elsewhere", "w-2", events()});
  EXPECT_EQ(stored("w-2").worker_id, "pool");
  EXPECT_THAT(told(), ElementsAre("registered", "registered", "marked_dead")) << "who is gone is not struck off twice";
}

TEST_F(WorkersTest, who_has_lapsed_is_left_to_the_sweep) {
  enter();
  rules.now += 60'000;
  rules.must(DeregisterWorkerOp{"", "w-1", events()});
  EXPECT_TRUE(rules.must(SweepWorker{worker_key("", "w-1"), events()}));
  EXPECT_THAT(told(), ElementsAre("registered", "ttl_swept"));
}

TEST_F(WorkersTest, a_sweep_that_comes_too_early_leaves_it) {
  enter();
  rules.now += 59'999;
  EXPECT_FALSE(rules.must(SweepWorker{worker_key("", "w-1"), events()}));
  EXPECT_EQ(stored().worker_id, "pool");
}

TEST_F(WorkersTest, T39_a_claim_registers_and_refreshes_after_a_third_of_the_time) {
  EXPECT_TRUE(rules.must(NoteClaimer{worker(), events()}));
  rules.now += 19'999;
  EXPECT_FALSE(rules.must(NoteClaimer{worker(), events()}));
  EXPECT_EQ(stored().last_heartbeat_at_ms, kStart);
  rules.now += 1;
  WorkerRecord claims = worker();
  claims.lanes = {"other"};
  EXPECT_TRUE(rules.must(NoteClaimer{claims, events()}));
  EXPECT_EQ(stored().last_heartbeat_at_ms, rules.now);
  EXPECT_THAT(stored().lanes, ElementsAre("default")) << "what it registered with counts";
}

TEST_F(WorkersTest, T81_one_instance_in_two_namespaces_is_two_workers) {
  enter(worker("w", "a"));
  enter(worker("w", "b"));
  rules.must(MarkWorkerDeadOp{{}, "a", "w", "x", events()});
  EXPECT_EQ(stored("w", "b").namespace_, "b");
}

TEST_F(WorkersTest, a_death_is_in_the_audit_log) {
  enter(worker("w", "a"));
  rules.must(MarkWorkerDeadOp{{.actor = "me", .request_id = "r-1", .remote = "10.0.0.1"}, "a", "w", "smoke", events()});
  const EventRecord& event = rules.set.events().back();
  EXPECT_EQ(event.event_type, "worker_marked_dead");
  EXPECT_EQ(event.actor, "me");
  EXPECT_EQ(event.namespace_, "a");
  for (const char* part : {"smoke", "\"request_id\":\"r-1\"", "\"remote\":\"10.0.0.1\""})
    EXPECT_THAT(event.details, HasSubstr(part));
}

TEST_F(WorkersTest, a_record_that_cannot_be_read_is_replaced) {
  Writes writes(rules.now);
  writes.document({worker_key("", "w-1"), "{\"worker_id\":7}", rules.now + 1, 0});
  rules.set.apply(std::move(writes));
  EXPECT_EQ(enter().status, RegisterStatus::registered);
  EXPECT_EQ(stored().worker_id, "pool");
}

}  // namespace
}  // namespace ff::core
