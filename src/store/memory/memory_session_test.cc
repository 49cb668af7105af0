#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

namespace ff::store {
namespace {

using core::IdempotencyId;
using core::IdempotencyRecord;

IdempotencyId key_of(const std::string& name) { return {"default", std::string(core::kCreateOperation), name}; }

IdempotencyRecord made_at(const std::string& name, TimeMs at) {
  IdempotencyRecord record;
  record.id = key_of(name);
  record.created_at_ms = at;
  return record;
}

/// One batch by hand, on keys alone.
class Batch {
 public:
  explicit Batch(MemoryStore& store) : session_(std::move(*store.open_session())) {
    EXPECT_EQ(session_->begin(), Step::done);
  }

  Step load(std::initializer_list<std::string> names) {
    core::Reads reads(unit_.set);
    for (const auto& name : names) reads.key(key_of(name));
    Unit* units[] = {&unit_};
    return *session_->load(units, {&reads, 1}, LoadMode::lock);
  }
  Unit::Outcome save(const std::string& name, std::optional<IdempotencyRecord> record) {
    core::Writes writes(unit_.now);
    writes.key(key_of(name), std::move(record));
    unit_.set.apply(std::move(writes));
    Unit* units[] = {&unit_};
    EXPECT_EQ(session_->save(units), Step::done);
    return unit_.outcome;
  }
  void rollback() { session_->rollback(); }

 private:
  std::unique_ptr<Session> session_;
  Unit unit_;
};

Unit::Outcome put(MemoryStore& store, const std::string& name, std::optional<IdempotencyRecord> record) {
  Batch batch(store);
  EXPECT_EQ(batch.load({name}), Step::done);
  return batch.save(name, std::move(record));
}

TEST(MemorySession, what_was_made_anew_is_not_what_was_loaded) {
  MemoryStore store({}, MemoryCharacter::optimistic);
  put(store, "k", made_at("k", 1));
  Batch late(store);
  ASSERT_EQ(late.load({"k"}), Step::done);
  ASSERT_EQ(put(store, "k", std::nullopt), Unit::Outcome::committed);
  ASSERT_EQ(put(store, "k", made_at("k", 2)), Unit::Outcome::committed);
  ASSERT_EQ(store.data().keys.at(key_of("k")).version, 1U) << "the version that `late` has seen";
  EXPECT_EQ(late.save("k", std::nullopt), Unit::Outcome::conflict);
  EXPECT_EQ(store.data().keys.at(key_of("k")).created_at_ms, 2);
}

TEST(MemorySession, what_nobody_changed_meanwhile_is_saved) {
  MemoryStore store({}, MemoryCharacter::optimistic);
  put(store, "k", made_at("k", 1));
  Batch late(store);
  ASSERT_EQ(late.load({"k"}), Step::done);
  EXPECT_EQ(late.save("k", std::nullopt), Unit::Outcome::committed);
  EXPECT_TRUE(store.data().keys.empty());
}

TEST(MemorySession, a_load_that_waits_takes_no_lock_against_the_order) {
  MemoryStore store({}, MemoryCharacter::locking);
  put(store, "b", made_at("b", 1));
  put(store, "c", made_at("c", 1));
  Batch holder(store), waiter(store), third(store);
  ASSERT_EQ(holder.load({"c"}), Step::done);
  ASSERT_EQ(waiter.load({"a", "b", "c"}), Step::blocked) << "it holds b and waits for c; there is no a";
  put(store, "a", made_at("a", 2));
  ASSERT_EQ(third.load({"a", "b"}), Step::blocked) << "it holds a and waits for b";
  EXPECT_EQ(waiter.load({"a", "b", "c"}), Step::blocked);
  holder.rollback();
  EXPECT_EQ(waiter.load({"a", "b", "c"}), Step::done);
  EXPECT_EQ(store.deadlocks(), 0U);
  waiter.rollback();
  EXPECT_EQ(third.load({"a", "b"}), Step::done);
}

}  // namespace
}  // namespace ff::store
