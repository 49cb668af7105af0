// Servers that go away and come back, and answers that are lost on their way.

#include "client/client_world.h"

#include <future>

namespace ff::test {
namespace {

class ClientAway : public ClientTest {
 protected:
  /// Stops serving; the engine goes on.
  void stop() { served.reset(); }
  /// Serves again where it was.
  void start_again() {
    ServedOptions same;
    same.transport.listen = {url.substr(std::string("http://").size())};
    served = std::make_unique<Served>(fabric, std::move(same), Served::Ends::server_only);
  }
};

TEST_F(ClientAway, a_server_that_restarts_is_found_again) {
  const ExecutionId before = must(remote.submit(plain())).execution_id;
  stop();
  start_again();
  EXPECT_THAT(remote.get(before), Succeeds()) << "on connections that were cut while they rested";
  stop();
  auto pending = std::async(std::launch::async, [&] { return remote.submit(plain()); });
  EXPECT_EQ(pending.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout) << "it is waited for";
  start_again();
  EXPECT_THAT(pending.get(), Succeeds());
  EXPECT_THAT(list_all(), SizeIs(2));
}

TEST_F(ClientAway, claims_wait_through_a_restart) {
  ClaimRequest waiting = request();
  waiting.wait_ms = 60'000;
  auto claimed = std::async(std::launch::async, [&] { return remote.claim(waiting); });
  ASSERT_TRUE(claims_wait(1));
  stop();
  ASSERT_TRUE(claims_wait(0));
  start_again();
  ASSERT_TRUE(claims_wait(1)) << "it asks again by itself";
  submit();
  EXPECT_THAT(must(claimed.get()), SizeIs(1));
}

TEST_F(ClientAway, who_does_not_come_back_is_given_up) {
  Fabric hasty = must(open_client({.retry_ms = 300}));
  stop();
  const auto refused = hasty.submit(plain());
  ASSERT_THAT(refused, Refused(ErrorCode::store_unavailable));
  EXPECT_TRUE(refused.error().retryable());
  EXPECT_THAT(refused.error().message, HasSubstr(url));
  EXPECT_THAT(open_client(), Refused(ErrorCode::store_unavailable)) << "who opens is told at once";
  hasty.close();
}

TEST_F(ClientAway, closing_does_not_wait_for_a_server_that_is_away) {
  stop();
  auto pending = std::async(std::launch::async, [&] { return remote.submit(plain()); });
  EXPECT_EQ(pending.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  remote.close();
  EXPECT_FALSE(pending.get());
}

TEST_F(ClientAway, a_lost_answer_is_asked_for_again_and_nothing_happens_twice) {
  Relay relay(url);
  Fabric client = must(open_client({}, relay.url()));
  auto lose_one = [&] { relay.lost_answers = 1; };

  lose_one();
  const auto submitted = must(client.submit(plain()));
  EXPECT_FALSE(submitted.duplicate);
  EXPECT_THAT(list_all(), SizeIs(1));
  lose_one();
  for (const auto& answer : client.submit_all(std::vector<Submission>(50, plain()))) EXPECT_FALSE(must(answer).duplicate);
  EXPECT_THAT(list_all(), SizeIs(51));

  const auto task = must(fabric.claim(request())).at(0);
  lose_one();
  EXPECT_THAT(client.renew({.handle = task.handle}), Succeeds());
  lose_one();
  EXPECT_EQ(must(client.fail({.handle = task.handle, .message = "broken"})).status, FailStatus::retry_scheduled);
  EXPECT_EQ(get(task.execution.execution_id).counters.retry_count, 1U);
  const auto other = must(fabric.claim(request())).at(0);
  lose_one();
  EXPECT_EQ(must(client.complete({other.handle, Bytes("1"), std::nullopt})).public_state, PublicState::completed);

  const ExecutionId ended = other.execution.execution_id;
  lose_one();
  EXPECT_FALSE(must(client.replay(ended)).unchanged);
  EXPECT_EQ(get(ended).counters.replay_count, 1U) << "by its key";
  lose_one();
  EXPECT_FALSE(must(client.cancel(ended)).unchanged) << "the first answer again";
  lose_one();
  EXPECT_EQ(must(client.change_priority(submitted.execution_id, 5)).old_priority, 0);
  EXPECT_EQ(relay.lost_answers, 0);
  client.close();
}

TEST_F(ClientAway, a_busy_server_is_asked_again_when_it_says) {
  std::atomic<int> refused = 0;
  const std::string info = core::to_json_text(must(fabric.info()));
  FakeServer fake([&](int fd, int) {
    for (std::string request = FakeServer::read_request(fd); !request.empty(); request = FakeServer::read_request(fd)) {
      if (request.starts_with("GET /v1/info"))
        FakeServer::write(fd, FakeServer::answer(200, info));
      else if (++refused <= 2)
        FakeServer::write(fd, FakeServer::answer(429, R"({"code":"resource_exhausted","detail":"x","retry_after_ms":10})"));
      else if (refused == 3)
        FakeServer::write(fd, FakeServer::answer(503, "<html>", "Connection: close\r\n"));
      else
        FakeServer::write(fd, FakeServer::answer(200, R"({"lease_expires_at_ms":7})"));
    }
  });
  Fabric client = must(open_client({}, fake.url()));
  EXPECT_EQ(must(client.renew({.handle = "h"})).lease_expires_at_ms, 7);
  EXPECT_EQ(refused, 4);
  refused = -100;
  EXPECT_THAT(client.renew({.handle = "h"}), Refused(ErrorCode::resource_exhausted)) << "but not for ever";
  EXPECT_EQ(refused, -95);
  client.close();
}

TEST_F(ClientAway, an_answer_that_does_not_come_is_not_waited_for) {
  const std::string info = core::to_json_text(must(fabric.info()));
  FakeServer silent([&](int fd, int number) {
    FakeServer::read_request(fd);
    if (number == 1) FakeServer::write(fd, FakeServer::answer(200, info));
    FakeServer::read_request(fd);
    FakeServer::read_request(fd);
  });
  Fabric client = must(open_client({.request_timeout_ms = 100, .retry_ms = 200}, silent.url()));
  const auto refused = client.info();
  ASSERT_THAT(refused, Refused(ErrorCode::store_unavailable));
  EXPECT_THAT(refused.error().message, HasSubstr("did not answer within 100 ms"));
  client.close();
}

}  // namespace
}  // namespace ff::test
