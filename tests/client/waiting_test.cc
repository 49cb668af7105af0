// Calls that wait for something to happen, and how their waits end.

#include "client/client_world.h"

#include <future>

namespace ff::test {
namespace {

class ClientWaiting : public ClientTest {
 protected:
  using Tasks = Result<std::vector<ClaimedTask>>;

  std::pair<ClaimCall, std::future<Tasks>> start_claim(const std::string& worker = "w1") {
    auto answer = std::make_shared<std::promise<Tasks>>();
    auto future = answer->get_future();
    ClaimRequest waiting = request(worker);
    waiting.wait_ms = 60'000;
    ClaimCall call = remote.claim(waiting, [answer](Tasks tasks) { answer->set_value(std::move(tasks)); });
    return {std::move(call), std::move(future)};
  }
};

TEST_F(ClientWaiting, a_claim_that_waits_gets_what_comes) {
  auto [call, answer] = start_claim();
  ASSERT_TRUE(claims_wait(1));
  const ExecutionId id = must(remote.submit(plain())).execution_id;
  EXPECT_EQ(must(answer.get()).at(0).execution.execution_id, id);
}

TEST_F(ClientWaiting, a_cancelled_claim_is_answered_and_gets_nothing) {
  for (int round = 0; round < 20; ++round) {
    auto [call, answer] = start_claim();
    if (round % 2 == 0) {
      ASSERT_TRUE(claims_wait(1)) << "else before it has left";
    }
    call.cancel();
    call.cancel();
    EXPECT_THAT(must(answer.get()), IsEmpty());
    ASSERT_TRUE(claims_wait(0));
  }
  const ExecutionId id = submit();
  // The last of them may still be on its way to the engine; what it gets there is handed back.
  EXPECT_TRUE(eventually([&] { return state_of(id) == PublicState::waiting; }));
}

TEST_F(ClientWaiting, work_that_comes_while_a_claim_is_cancelled_is_with_exactly_one) {
  for (int round = 0; round < 50; ++round) {
    auto [call, answer] = start_claim();
    ASSERT_TRUE(claims_wait(1));
    std::jthread leaving([&call] { call.cancel(); });
    const ExecutionId id = submit();
    leaving.join();
    const auto tasks = must(answer.get());
    if (tasks.empty()) {
      // It is not handed out, or was or will be and is handed back.
      std::vector<ClaimedTask> other;
      ASSERT_TRUE(eventually([&] {
        other = must(fabric.claim(request("other")));
        return !other.empty();
      }));
      EXPECT_EQ(other[0].execution.execution_id, id);
      must(complete(other[0]));
    } else {
      EXPECT_EQ(tasks[0].execution.execution_id, id);
      EXPECT_THAT(remote.complete({tasks[0].handle, std::nullopt, std::nullopt}), Succeeds());
    }
  }
}

TEST_F(ClientWaiting, more_claims_than_connections_for_other_calls) {
  std::vector<std::pair<ClaimCall, std::future<Tasks>>> claims;
  for (int i = 0; i < 100; ++i) claims.push_back(start_claim(fmt::format("w{}", i)));
  ASSERT_TRUE(claims_wait(100));
  EXPECT_THAT(remote.info(), Succeeds()) << "they hold up nobody";
  for (auto& [call, answer] : claims) call.cancel();
  for (auto& [call, answer] : claims) EXPECT_THAT(must(answer.get()), IsEmpty());
}

TEST_F(ClientWaiting, more_waits_than_allowed) {
  Fabric narrow = must(open_client({.waits_max = 1}));
  ClaimRequest waiting = request();
  waiting.wait_ms = 60'000;
  std::promise<Tasks> first;
  ClaimCall call = narrow.claim(waiting, [&](Tasks tasks) { first.set_value(std::move(tasks)); });
  ASSERT_TRUE(claims_wait(1));
  EXPECT_THAT(narrow.claim(waiting), Refused(ErrorCode::resource_exhausted));
  EXPECT_THAT(narrow.claim(request()), Succeeds()) << "without a wait";
  call.cancel();
  first.get_future().wait();
  narrow.close();
}

TEST_F(ClientWaiting, closing_answers_whoever_waits) {
  const ExecutionId id = submit();
  const auto task = must(remote.claim(request())).at(0);
  auto [call, answer] = start_claim();
  auto execution = std::async(std::launch::async, [&] { return remote.wait(id, std::chrono::minutes(1)); });
  auto history = std::async(std::launch::async, [&] {
    const auto end = must(remote.history({.execution_id = id})).next_cursor;
    return remote.history({.execution_id = id, .cursor = end.value_or(""), .wait_ms = 60'000});
  });
  ASSERT_TRUE(claims_wait(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  remote.close();
  EXPECT_THAT(must(answer.get()), IsEmpty());
  const auto waited = execution.get();
  if (waited) {
    EXPECT_EQ(waited->state.public_state, PublicState::active) << "as it stands";
  }
  (void)history.get();
  EXPECT_THAT(remote.submit(plain()), Refused(ErrorCode::draining));
  EXPECT_THAT(remote.claim(request()), Refused(ErrorCode::draining));
  EXPECT_THAT(remote.get(id), Refused(ErrorCode::draining));
  remote.close();
  EXPECT_TRUE(claims_wait(0));
}

TEST_F(ClientWaiting, a_callback_may_close_the_client) {
  std::promise<void> closed;
  remote.submit(plain(), [&](const auto&) {
    remote.close();
    closed.set_value();
  });
  closed.get_future().wait();
  EXPECT_TRUE(eventually([&] { return !remote.submit(plain()); }));
}

TEST_F(ClientWaiting, a_server_that_drains_ends_waits_and_keeps_tasks) {
  const ExecutionId id = submit();
  const auto task = must(remote.claim(request())).at(0);
  auto [call, answer] = start_claim();
  ASSERT_TRUE(claims_wait(1));
  std::jthread draining([&] {
    served->transport().drain(std::chrono::seconds(30), [&] { return state_of(id) == PublicState::active; });
  });
  EXPECT_THAT(must(answer.get()), IsEmpty());
  EXPECT_THAT(remote.complete({task.handle, std::nullopt, std::nullopt}), Succeeds());
  draining.join();
}

}  // namespace
}  // namespace ff::test
