// The layout of what is stored, byte by byte, as released. A change here cannot read the data of those who upgrade:
// it needs a migration, and a new case beside the old ones.

#include "store/packed_row.h"

#include "core/json.h"
#include "support/rules.h"
#include "support/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::store {
namespace {

using core::ExecutionRecord;
using test::job;
using test::Rules;

std::string hex(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string unhex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return bytes;
}

/// Names with their numbers, as state words and columns hold them.
template <class E>
std::string numbers() {
  std::string text;
  for (E value : test::all<E>())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", core::name_of(value), static_cast<int>(value));
  return text;
}

TEST(PackedLayout, enumerators_keep_their_numbers) {
  EXPECT_EQ(numbers<LifecyclePhase>(), "runnable=0 active=1 suspended=2 terminal=3");
  EXPECT_EQ(numbers<OwnershipState>(), "unowned=0 leased=1 lease_expired_reclaimable=2 lease_revoked=3");
  EXPECT_EQ(numbers<EligibilityState>(),
            "eligible_now=0 not_eligible_until_time=1 blocked_by_dependencies=2 blocked_by_budget=3 "
            "blocked_by_quota=4 blocked_by_route=5 not_applicable=6");
  EXPECT_EQ(numbers<BlockingReason>(),
            "none=0 waiting_for_worker=1 waiting_for_retry_backoff=2 waiting_for_resume_delay=3 waiting_for_delay=4 "
            "waiting_for_signal=5 waiting_for_approval=6 waiting_for_callback=7 waiting_for_tool_result=8 "
            "waiting_for_children=9 waiting_for_budget=10 waiting_for_quota=11 waiting_for_capable_worker=12 "
            "paused_by_operator=13 paused_by_policy=14");
  EXPECT_EQ(numbers<TerminalOutcome>(), "none=0 success=1 failed=2 cancelled=3 expired=4 skipped=5");
  EXPECT_EQ(numbers<AttemptState>(),
            "none=0 pending_first_attempt=1 running_attempt=2 attempt_interrupted=3 pending_retry_attempt=4 "
            "pending_replay_attempt=5 attempt_terminal=6");
  EXPECT_EQ(numbers<PublicState>(),
            "waiting=0 delayed=1 rate_limited=2 waiting_children=3 active=4 suspended=5 resumable=6 completed=7 "
            "failed=8 cancelled=9 expired=10 skipped=11");
  EXPECT_EQ(numbers<AttemptType>(), "initial=0 retry=1 reclaim=2 replay=3");
}

TEST(PackedLayout, facts_keep_their_bits) {
  const StateBits all[] = {kPhaseBits,        kOwnershipBits,   kEligibilityBits, kReasonBits, kOutcomeBits,
                           kAttemptStateBits, kPublicStateBits, kAttemptTypeBits, kTagsBits};
  std::string text;
  for (const auto& bits : all) text += fmt::format("{}+{} ", bits.shift, bits.width);
  EXPECT_EQ(text, "0+2 2+2 4+3 7+4 11+3 14+3 17+4 21+2 23+1 ");
}

/// The row of an execution as it was released: how it is written, and what is read from it.
struct Released {
  std::int64_t state;
  std::string lease, worker, details;
};

void expect_layout(const ExecutionRecord& record, const Released& released) {
  PackBuffer buffer;
  PackedRow row = pack(record, buffer);
  EXPECT_EQ(row.state, released.state);
  EXPECT_EQ(hex(row.lease), released.lease);
  EXPECT_EQ(row.worker, released.worker);
  EXPECT_EQ(row.details, released.details);

  const std::string lease = unhex(released.lease);
  row.state = released.state;
  row.lease = lease;
  row.worker = released.worker;
  row.details = released.details;
  ExecutionRecord read;
  auto done = unpack(row, record.queue, read);
  ASSERT_TRUE(done) << done.error().to_string();
  read.tags = record.tags;
  EXPECT_TRUE(core::same_record(record, read)) << test::changed_fields(record, read);
}

/// One execution, moved through its life; ids and times are the same in every run.
class PackedLayoutOf : public ::testing::Test {
 protected:
  /// Lease id and attempt id of the first claim at the start.
  const std::string kIds =
      "018bcfe5680076a38f281b68d88a242b"
      "018bcfe568007717896210e28b791f8d";
  Rules rules;
};

TEST_F(PackedLayoutOf, a_waiting_execution) {
  const ExecutionId id = rules.submit();
  expect_layout(rules.record(id), {16'512, "", "", ""});
}

TEST_F(PackedLayoutOf, a_leased_one) {
  const ExecutionId id = rules.submit();
  rules.now += 1'000;
  core::Claim claim = rules.claim_of("host-1", 30'000);
  claim.claim_key = "k";
  ASSERT_TRUE(rules.offer(id, claim));
  // Lease id and attempt id, then 30,000 ms, the moment of the claim and the expiry.
  expect_layout(rules.record(id), {557'157,
                                   "018bcfe56be876a38f281b68d88a242b"
                                   "018bcfe56be87717896210e28b791f8d"
                                   "00007530"
                                   "0000018bcfe56be8"
                                   "0000018bcfe5e118",
                                   "pool\nhost-1", ""});
  PackBuffer buffer;
  const PackedRow row = pack(rules.record(id), buffer);
  EXPECT_EQ(row.claim_key, "k");
  EXPECT_EQ(row.total_attempt_count, 1U);
  EXPECT_EQ(row.current_lease_epoch, 1U);
  EXPECT_FALSE(row.candidate);
  EXPECT_EQ(row.due_at_ms, rules.now + 30'000);
}

TEST_F(PackedLayoutOf, a_completed_one) {
  const ExecutionId id = rules.submit();
  const core::TaskHandle handle = rules.claim(id, "host-1");
  rules.now += 2'000;
  ASSERT_TRUE(rules.complete(handle));
  expect_layout(rules.record(id), {1'017'955, kIds, "pool\nhost-1", ""});
}

TEST_F(PackedLayoutOf, one_that_failed_and_waits_for_its_retry) {
  const ExecutionId id = rules.submit(job(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":5000}}})"));
  const core::TaskHandle handle = rules.claim(id, "host-1");
  rules.now += 2'000;
  ASSERT_TRUE(rules.fail(handle, "boom"));
  ExecutionRecord record = rules.record(id);
  record.hold.blocking_detail = "because";
  expect_layout(record, {196'880, kIds, "pool\nhost-1",
                         R"({"retry_count":1,"delay_until_ms":1700000007000,"blocking_detail":"because",)"
                         R"("last_failure_message":"boom","pending_retry_reason":"boom",)"
                         R"("pending_previous_attempt_index":0,"attempt.ended_at_ms":1700000002000,)"
                         R"("attempt.failure_reason":"boom","attempt.failure_category":"transient",)"
                         R"("attempt.failure_class":"transient","attempt.release_delay_until_ms":1700000007000})"});
}

TEST_F(PackedLayoutOf, one_whose_worker_was_lost) {
  const ExecutionId id = rules.submit(job(R"({"timeout_policy":{"attempt_timeout_ms":900000}})"));
  rules.claim(id, "host-1");
  rules.lose(id);
  ExecutionRecord record = rules.record(id);
  record.hold.blocking_detail = "because";
  expect_layout(record, {573'673, kIds + "000075300000018bcfe568000000018bcfe5dd30", "pool\nhost-1",
                         R"({"lease_reclaim_count":1,"attempt_timeout_at_ms":1700000900000,)"
                         R"("blocking_detail":"because","interrupt_kind":"lease_lost",)"
                         R"("lease_expired_at_ms":1700000030001,"attempt_timeout_ms":900000,)"
                         R"("attempt.outcome":"lease_expired_reclaimable",)"
                         R"("attempt.released_lease_id":"018bcfe5-6800-76a3-8f28-1b68d88a242b",)"
                         R"("attempt.released_lease_epoch":1,"attempt.release_op":"lease_lost","attempt.version":2})"});
}

TEST_F(PackedLayoutOf, a_filed_attempt) {
  const ExecutionId id = rules.submit(job(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":5000}}})"));
  const core::TaskHandle handle = rules.claim(id, "host-1");
  rules.now += 2'000;
  ASSERT_TRUE(rules.fail(handle, "boom"));
  const std::string released =
      R"({"attempt_index":0,"attempt_id":"018bcfe5-6800-7717-8962-10e28b791f8d","attempt_type":"initial",)"
      R"("attempt_state":"ended_failure","outcome":"retry","lease_id":"018bcfe5-6800-76a3-8f28-1b68d88a242b",)"
      R"("lease_epoch":1,"worker_id":"pool","worker_instance_id":"host-1","created_at_ms":1700000000000,)"
      R"("started_at_ms":1700000000000,"ended_at_ms":1700000002000,"failure_reason":"boom",)"
      R"("failure_category":"transient","failure_class":"transient","usage":{},)"
      R"("released_lease_id":"018bcfe5-6800-76a3-8f28-1b68d88a242b","released_lease_epoch":1,)"
      R"("release_op":"fail_retry","release_delay_until_ms":1700000007000,"version":2})";
  EXPECT_EQ(pack_attempt(*rules.record(id).attempt), released);
  EXPECT_EQ(*unpack_attempt(released), *rules.record(id).attempt);
}

TEST_F(PackedLayoutOf, tags_and_origin) {
  EXPECT_EQ(pack_tags({{"tenant", "a"}, {"b.c", "\"d\""}}), R"({"b.c":"\"d\"","tenant":"a"})");
  core::ExecutionInfo info;
  info.creator_identity = "me";
  info.idempotency_key = "k";
  info.traceparent = "t";
  EXPECT_EQ(pack_origin(info), R"({"creator_identity":"me","idempotency_key":"k","traceparent":"t"})");
}

}  // namespace
}  // namespace ff::store
