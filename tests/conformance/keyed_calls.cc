// 07, section 4: calls under an idempotency key, and tokens.

#include "api/acting.h"
#include "conformance/conformance.h"

#include <future>
#include <thread>

namespace ff::test {
namespace {

/// A caller that makes its calls under a key.
struct KeyedCaller {
  KeyedCaller(const Fabric& fabric, std::string name, std::string says = "body", std::string namespace_ = "default") {
    says.resize(32, '.');
    key = std::make_shared<core::RequestKey>(core::RequestKey{std::move(namespace_), std::move(name), std::move(says)});
    core::Caller caller;
    caller.key = key;
    calls = Fabric(api::acting_for(fabric.backend(), caller));
  }
  std::shared_ptr<core::RequestKey> key;
  Fabric calls;
};

}  // namespace

TEST_P(InProcess, T20_every_call_that_changes_something_can_be_repeated_under_its_key) {
  const auto id = submit();
  const KeyedCaller first(fabric, "k1"), again(fabric, "k1"), other(fabric, "k1", "something else");
  EXPECT_FALSE(must(first.calls.cancel(id, "x")).unchanged);
  EXPECT_FALSE(first.key->repeated);
  must(fabric.replay(id));
  EXPECT_EQ(must(again.calls.cancel(id, "x")).public_state, PublicState::cancelled) << "the first answer";
  EXPECT_TRUE(again.key->repeated);
  EXPECT_EQ(state_of(id), PublicState::waiting) << "and nothing happened";
  EXPECT_THAT(other.calls.cancel(id, "x"), Refused(ErrorCode::idempotency_conflict));
  EXPECT_TRUE(KeyedCaller(fabric, "k1").calls.change_priority(id, 5)) << "a key belongs to its call";

  const ClaimedTask task = claim();
  const KeyedCaller by_worker(fabric, "k2"), worker_again(fabric, "k2");
  must(by_worker.calls.fail({.handle = task.handle, .message = "broken"}));
  const TaskFailed repeated = must(worker_again.calls.fail({.handle = task.handle, .message = "broken"}));
  EXPECT_EQ(repeated.status, FailStatus::retry_scheduled);
  EXPECT_EQ(get(id).counters.retry_count, 1U);

  const KeyedCaller lane(fabric, "k3"), lane_again(fabric, "k3");
  must(lane.calls.pause_lane("other"));
  must(fabric.resume_lane("other"));
  EXPECT_EQ(must(lane_again.calls.pause_lane("other")).lane_state, LaneState::paused);
  EXPECT_EQ(must(fabric.lanes()).items.back().lane.lane_state, LaneState::active);

  must(fabric.register_worker({.worker_id = "p", .worker_instance_id = "w9", .lanes = {"default"}}));
  const KeyedCaller dead(fabric, "k4"), dead_again(fabric, "k4");
  must(dead.calls.mark_worker_dead({.worker_instance_id = "w9", .reason = "x"}));
  EXPECT_TRUE(dead_again.calls.mark_worker_dead({.worker_instance_id = "w9", .reason = "x"}));
}

TEST_P(InProcess, T20_a_key_survives_a_restart_and_holds_in_other_processes_for_a_day) {
  const auto id = submit();
  must(KeyedCaller(fabric, "k").calls.change_priority(id, 3));
  restart();
  Opened other = open_another();
  const KeyedCaller there(other.fabric, "k");
  EXPECT_EQ(must(there.calls.change_priority(id, 3)).old_priority, 0);
  EXPECT_TRUE(there.key->repeated);
  EXPECT_THAT(KeyedCaller(fabric, "k", "b").calls.change_priority(id, 3), Refused(ErrorCode::idempotency_conflict));
  const KeyedCaller elsewhere(fabric, "k", "b", "tenant");
  EXPECT_EQ(must(elsewhere.calls.change_priority(id, 4)).old_priority, 3) << "keys of another namespace are others";
  advance(86'400'001);
  EXPECT_EQ(must(KeyedCaller(fabric, "k", "b").calls.change_priority(id, 6)).old_priority, 4);
}

TEST_P(InProcess, T20_many_repeats_at_once_are_one_call) {
  const auto id = submit();
  std::vector<std::thread> callers;
  std::atomic<int> first = 0;
  for (int i = 0; i < 16; ++i)
    callers.emplace_back([&] {
      const KeyedCaller caller(fabric, "k");
      must(caller.calls.change_priority(id, 9));
      if (!caller.key->repeated) ++first;
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(count_events(id, "operator priority_changed"), 1U);
}

TEST_P(InProcess, T13_tokens_are_kept_as_hashes) {
  engine::Engine& tokens = engine();
  std::promise<Result<engine::MintedToken>> minted;
  tokens.create_token({.name = "ci", .scopes = {"read", "submit"}, .namespace_ = "tenant", .ttl_ms = 1'000}, {},
                      [&](Result<engine::MintedToken> token) { minted.set_value(std::move(token)); });
  const engine::MintedToken made = must(minted.get_future().get());
  const auto text = engine::read_token_text(made.text);
  ASSERT_TRUE(text) << made.text.size();
  EXPECT_EQ(text->token_id, made.token.token_id);
  EXPECT_TRUE(engine::is_same_hash(text->secret_hash, made.token.token_hash));

  auto list = [&] {
    std::promise<Result<std::vector<core::ApiToken>>> listed;
    tokens.list_tokens([&](auto found) { listed.set_value(std::move(found)); });
    return must(listed.get_future().get());
  };
  ASSERT_THAT(list(), SizeIs(1));
  EXPECT_EQ(list()[0], made.token);
  EXPECT_FALSE(core::is_valid(list()[0], now() + 1'000));

  std::promise<Result<core::ApiToken>> revoked;
  tokens.revoke_token(made.token.token_id, {}, [&](auto token) { revoked.set_value(std::move(token)); });
  const core::ApiToken gone = must(revoked.get_future().get());
  EXPECT_EQ(gone, list()[0]);
  EXPECT_TRUE(gone.revoked_at_ms);
  EXPECT_THAT(must(fabric.audit({.event_type = "token_revoked"})).items, SizeIs(1));
  advance(30 * 86'400'000LL + 1'000);
  EXPECT_THAT(list(), IsEmpty()) << "forgotten a month after its end";

  for (auto bad : {engine::NewToken{.name = "", .scopes = {"read"}}, engine::NewToken{.name = "x"},
                   engine::NewToken{.name = "x", .scopes = {"everything"}},
                   engine::NewToken{.name = "x", .scopes = {"read"}, .namespace_ = "a b"},
                   engine::NewToken{.name = "x", .scopes = {"read"}, .ttl_ms = 0}}) {
    std::promise<Result<engine::MintedToken>> answer;
    tokens.create_token(bad, {}, [&](Result<engine::MintedToken> token) { answer.set_value(std::move(token)); });
    EXPECT_THAT(answer.get_future().get(), Refused(ErrorCode::invalid_input));
  }
}

}  // namespace ff::test
