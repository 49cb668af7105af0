#include "core/ops/keyed.h"

#include "support/rules.h"

#include <gmock/gmock.h>

namespace ff::core {
namespace {

using test::Rules;

class KeyedTest : public ::testing::Test {
 protected:
  Keyed<ChangePriorityOp> change(const ExecutionId& id, std::int32_t priority, std::string key = "k",
                                 std::string body = "first") {
    auto with = std::make_shared<RequestKey>();
    with->namespace_ = "default";
    with->key = std::move(key);
    body.resize(32, '.');
    with->digest = std::move(body);
    IdempotencyId at = request_key(*with, ChangePriorityOp::kName, id);
    const std::uint16_t partition = partition_of(at, rules.partitioning);
    return {ChangePriorityOp{{}, id, priority}, std::move(at), partition, with};
  }

  Rules rules;
};

TEST_F(KeyedTest, T20_a_repeat_gets_the_first_answer_and_changes_nothing) {
  const ExecutionId id = rules.submit();
  auto first = change(id, 7);
  EXPECT_EQ(rules.must(first), (PriorityChanged{0, 7}));
  EXPECT_FALSE(first.key->repeated);
  rules.must(ChangePriorityOp{{}, id, 9});
  auto again = change(id, 7);
  EXPECT_EQ(rules.must(again), (PriorityChanged{0, 7})) << "as it was then";
  EXPECT_TRUE(again.key->repeated);
  EXPECT_EQ(rules.set.execution(id)->priority, 9);
}

TEST_F(KeyedTest, T20_the_same_key_with_other_content_is_refused) {
  const ExecutionId id = rules.submit();
  rules.must(change(id, 7));
  EXPECT_EQ(rules.refused(change(id, 8, "k", "second")).code, ErrorCode::idempotency_conflict);
  EXPECT_EQ(rules.set.execution(id)->priority, 7);
}

TEST_F(KeyedTest, T20_refusals_are_not_remembered) {
  const ExecutionId id = rules.submit();
  const auto handle = rules.claim(id);
  rules.must(Complete{handle, nullptr, "application/json"});
  EXPECT_EQ(rules.refused(change(id, 7)).code, ErrorCode::execution_not_active);
  rules.must(Replay{{}, id, {}, {}});
  EXPECT_EQ(rules.must(change(id, 7)), (PriorityChanged{0, 7}));
}

TEST_F(KeyedTest, T20_a_key_is_forgotten_after_a_day) {
  const ExecutionId id = rules.submit();
  rules.must(change(id, 7));
  rules.now += static_cast<TimeMs>(kRequestKeyMs) - 1;
  auto late = change(id, 8, "k", "second");
  EXPECT_EQ(rules.refused(late).code, ErrorCode::idempotency_conflict);
  rules.now += 1;
  EXPECT_EQ(rules.must(late), (PriorityChanged{7, 8}));
}

TEST_F(KeyedTest, a_key_belongs_to_its_call_and_to_what_that_is_about) {
  const ExecutionId one = rules.submit(), other = rules.submit();
  rules.must(change(one, 7));
  EXPECT_EQ(rules.must(change(other, 8, "k", "second")), (PriorityChanged{0, 8}));
  EXPECT_NE(request_key({"default", "k", {}, false}, "cancel", one), request_key({"default", "k", {}, false}, "replay", one));
}

TEST(KeyPlaces, lie_with_what_the_call_is_about) {
  const Partitioning partitioning;
  const RequestKey key{"default", "order-42", {}, false};
  const ExecutionId id{7, Uuid::parse("550e8400-e29b-41d4-a716-446655440000").value()};
  EXPECT_EQ(partition_of(request_key(key, "cancel", id), partitioning), 7);
  EXPECT_EQ(partition_of(request_key(key, "configure_lane", std::string_view("a.b@c")), partitioning), 0);
  EXPECT_EQ(partition_of({"default", std::string(kCreateOperation), "order-42"}, partitioning), 178) << "of a create";
}

}  // namespace
}  // namespace ff::core
