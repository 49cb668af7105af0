#include "core/ops/claim_operation.h"

#include "support/rules.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;

struct Answered {
  Result<LeasedTasks> reply = LeasedTasks{};
  int times = 0;
};

std::unique_ptr<ClaimOperation> operation(Claim claim, Answered& answered) {
  return std::make_unique<ClaimOperation>(std::move(claim), [&](Result<LeasedTasks> reply) {
    answered.reply = std::move(reply);
    ++answered.times;
  });
}

TEST(Executions, T21_a_claim_takes_up_to_its_max_in_the_order_of_the_offers) {
  Rules rules;
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(rules.submit());
  Claim claim = rules.claim_of();
  claim.max = 3;
  Answered answered;
  auto op = operation(claim, answered);
  EXPECT_EQ(op->wanted(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(op->offer(ids[static_cast<std::size_t>(i)], rules.set, kStart));
  EXPECT_EQ(op->wanted(), 0U);
  EXPECT_FALSE(op->offer(ids[3], rules.set, kStart)) << "it has enough";
  EXPECT_EQ(rules.record(ids[3]).counters.current_lease_epoch, 0U);
  op->settle({true, true, true});
  op->deliver();
  ASSERT_TRUE(answered.reply);
  ASSERT_EQ(answered.reply->size(), 3U);
  std::set<Uuid> minted;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*answered.reply)[i].handle.execution_id, ids[i]);
    minted.insert((*answered.reply)[i].handle.lease_id);
    minted.insert((*answered.reply)[i].handle.attempt_id);
  }
  EXPECT_EQ(minted.size(), 6U) << "every lease and attempt has an id of its own";
  EXPECT_EQ(answered.times, 1);
}

TEST(Executions, T14_what_is_gone_or_taken_is_passed_over) {
  Rules rules;
  const ExecutionId taken = rules.submit(), cancelled = rules.submit(), left = rules.submit();
  rules.claim(taken, "w2");
  ASSERT_TRUE(rules.cancel(cancelled));
  Answered answered;
  auto op = operation(rules.claim_of(), answered);
  EXPECT_FALSE(op->offer(taken, rules.set, kStart));
  EXPECT_FALSE(op->offer(cancelled, rules.set, kStart));
  EXPECT_FALSE(op->offer(ExecutionId{}, rules.set, kStart)) << "unknown";
  EXPECT_TRUE(op->offer(left, rules.set, kStart));
}

TEST(Scheduling, T27_eight_mebibytes_of_payload_are_enough_for_one_call) {
  Rules rules;
  Submission s = job();
  s.payload = Bytes(1024 * 1024, 'p');
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 9; ++i) ids.push_back(rules.submit(s));
  Claim claim = rules.claim_of();
  claim.max = 1000;
  Answered answered;
  auto op = operation(claim, answered);
  std::size_t given = 0;
  for (const auto& id : ids) given += op->offer(id, rules.set, kStart) ? 1 : 0;
  EXPECT_EQ(given, 8U);
  EXPECT_EQ(op->wanted(), 0U);
}

TEST(Executions, only_offers_whose_commit_succeeded_are_answered) {
  Rules rules;
  std::vector<ExecutionId> ids = {rules.submit(), rules.submit(), rules.submit()};
  Claim claim = rules.claim_of();
  claim.max = 10;
  Answered answered;
  auto op = operation(claim, answered);
  for (const auto& id : ids) op->offer(id, rules.set, kStart);
  op->settle({true, false, true});
  op->deliver();
  ASSERT_EQ(answered.reply->size(), 2U);
  EXPECT_EQ((*answered.reply)[1].handle.execution_id, ids[2]);
}

TEST(Executions, a_batch_that_is_decided_again_starts_from_the_same_ids) {
  Rules one, two;
  const ExecutionId id = one.submit();
  ASSERT_EQ(two.submit(), id);
  const Claim claim = one.claim_of();
  Answered answered;
  auto op = operation(claim, answered);
  ASSERT_TRUE(op->offer(id, one.set, kStart));
  op->reset();
  EXPECT_EQ(op->wanted(), 1U);
  ASSERT_TRUE(op->offer(id, two.set, kStart));
  EXPECT_TRUE(same_record(one.record(id), two.record(id)));
}

TEST(Executions, T19_a_repeat_gives_the_leases_again_and_no_new_ones) {
  Rules rules;
  const ExecutionId held = rules.submit(), more = rules.submit();
  Claim claim = rules.claim_of();
  claim.claim_key = "key";
  claim.max = 2;
  auto first = rules.offer(held, claim);
  ASSERT_TRUE(first);
  Answered answered;
  auto op = operation(claim, answered);
  op->repeat(held, rules.set);
  EXPECT_EQ(op->wanted(), 0U) << "although it asked for two";
  EXPECT_FALSE(op->offer(more, rules.set, kStart));
  op->repeat(more, rules.set);
  op->settle({});
  op->deliver();
  ASSERT_EQ(answered.reply->size(), 1U) << "what is not leased cannot be given again";
  EXPECT_EQ(answered.reply->front().handle, first->handle);
}

TEST(Executions, a_refusal_from_outside_is_the_answer) {
  Rules rules;
  Answered answered;
  auto op = operation(rules.claim_of(), answered);
  EXPECT_EQ(op->error(), nullptr);
  op->refuse({ErrorCode::store_unavailable, "gone", {}});
  ASSERT_TRUE(op->error());
  op->deliver();
  EXPECT_EQ(answered.reply.error().code, ErrorCode::store_unavailable);
  EXPECT_EQ(op->claim(), op.get());
  EXPECT_EQ(op->name(), "claim");
}

}  // namespace
}  // namespace ff::core
