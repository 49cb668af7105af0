// Calls through the client: bytes, batches, bounds.

#include "client/client_world.h"

#include <future>

namespace ff::test {
namespace {

class ClientCalls : public ClientTest {};

TEST_F(ClientCalls, bytes_come_back_as_they_were) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::vector<std::pair<std::string, std::optional<std::string>>> payloads = {
      {R"({"b": 1.50,  "a": [1e2, "\u00e9"] })", std::nullopt},
      {all, "application/octet-stream"},
      {all, std::nullopt},
      {" 1 ", std::nullopt},
      {"", "text/plain"},
      {R"({"base64":"AA=="})", std::nullopt},
      {"[[[[1]]]]", "application/json"}};
  for (const auto& [bytes, type] : payloads) {
    Submission submission = plain();
    submission.payload = bytes;
    submission.content_type = type;
    const ExecutionId id = must(remote.submit(submission)).execution_id;
    const Blob kept{bytes, type.value_or("application/json")};
    EXPECT_EQ(must(remote.payload(id)), kept);
    EXPECT_EQ(must(fabric.payload(id)), kept) << "as the engine has it";
    const auto task = must(remote.claim(request())).at(0);
    EXPECT_EQ(task.payload, bytes);
    EXPECT_EQ(task.payload_content_type, kept.content_type);
    must(remote.complete({task.handle, bytes, type}));
    EXPECT_EQ(must(remote.result(id)), kept);
  }
  const ExecutionId none = must(remote.submit(plain())).execution_id;
  EXPECT_EQ(must(remote.payload(none)), std::nullopt);
}

TEST_F(ClientCalls, a_payload_as_large_as_the_engine_takes) {
  for (char c : {'x', '1'}) {  // no JSON, JSON
    Submission submission = plain();
    submission.payload = std::string(1024 * 1024, c);
    submission.tags = {{"a.b", "c&d e"}};
    submission.policy = must(parse_policy(R"({"priority": 7})"));
    const ExecutionId id = must(remote.submit(submission)).execution_id;
    EXPECT_EQ(must(remote.payload(id))->bytes.size(), 1024U * 1024);
    EXPECT_EQ(must(remote.get(id)).tags, submission.tags);
    EXPECT_EQ(must(remote.get(id)).priority, 7);
    submission.payload->push_back(c);
    EXPECT_THAT(remote.submit(submission), Refused(ErrorCode::payload_too_large));
  }
}

TEST_F(ClientCalls, calls_that_are_made_together_travel_together) {
  std::vector<Submission> many(2'500, plain());
  for (std::size_t i = 0; i < many.size(); ++i) many[i].payload = std::string(i % 7 == 0 ? 3'000 : 10, 'x');
  many[1'000].execution_kind = "";
  const auto answers = remote.submit_all(many);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == 1'000)
      EXPECT_THAT(answers[i], Refused(ErrorCode::invalid_input)) << "harms no other";
    else
      EXPECT_THAT(answers[i], Succeeds());
  }
  EXPECT_LT(served->transport().counts().accepted, 20U) << "over few connections";
  std::vector<ClaimedTask> tasks;
  while (tasks.size() < 2'499)
    for (auto& task : must(remote.claim(request("w", 1'000)))) tasks.push_back(std::move(task));
  EXPECT_THAT(must(remote.claim(request("w", 1'000))), IsEmpty());
  std::atomic<int> completed = 0;
  for (const auto& task : tasks)
    remote.complete({task.handle, std::nullopt, std::nullopt}, [&](const Result<Changed>& changed) {
      if (changed && changed->public_state == PublicState::completed) ++completed;
    });
  EXPECT_TRUE(eventually([&] { return completed == 2'499; }));
}

TEST_F(ClientCalls, an_item_that_spoils_its_batch_goes_alone) {
  // 4 KiB bodies: each of these is too large, also by itself.
  ServedOptions small;
  small.server.limits.body_max_bytes = 4'096;
  serve(std::move(small));
  auto task = [&](std::size_t bytes) {
    submit();
    return CompleteTask{must(fabric.claim(request())).at(0).handle, std::string(bytes, 'x'), "text/plain"};
  };
  std::vector<std::future<Result<Changed>>> answers;
  for (std::size_t bytes : {100, 100, 5'000, 100, 100}) {
    auto answer = std::make_shared<std::promise<Result<Changed>>>();
    answers.push_back(answer->get_future());
    remote.complete(task(bytes), [answer](Result<Changed> changed) { answer->set_value(std::move(changed)); });
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto changed = answers[i].get();
    if (i == 2)
      EXPECT_THAT(changed, Refused(ErrorCode::payload_too_large));
    else
      EXPECT_THAT(changed, Succeeds()) << i;
  }
}

TEST_F(ClientCalls, too_many_calls_at_once_are_refused) {
  Fabric narrow = must(open_client({.queue_max = 3}));
  const auto answers = narrow.submit_all(std::vector<Submission>(4, plain()));
  EXPECT_THAT(answers, ::testing::Each(Refused(ErrorCode::resource_exhausted)));
  for (int round = 0; round < 50; ++round)  // each as soon as the one before is answered
    ASSERT_THAT(narrow.submit_all(std::vector<Submission>(3, plain())), ::testing::Each(Succeeds())) << round;
  narrow.close();
}

TEST_F(ClientCalls, over_a_socket_file) {
  TempFolder folder;
  ServedOptions socket;
  socket.transport.listen = {"unix:" + folder.file("ff.sock")};
  serve(std::move(socket));
  EXPECT_TRUE(must(open_client({}, "http+unix:" + folder.file("ff.sock"))).info());
  EXPECT_EQ(must(remote.info()).data_set_id, must(fabric.info()).data_set_id);
}

TEST_F(ClientCalls, many_threads_share_a_client) {
  std::vector<std::jthread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        const auto id = must(remote.submit(plain())).execution_id;
        if (must(remote.get(id)).execution_id == id && remote.cancel(id)) ++done;
      }
    });
  threads.clear();
  EXPECT_EQ(done, 400);
  EXPECT_THAT(list_all({.state = {PublicState::cancelled}}), SizeIs(400));
}

TEST_F(ClientCalls, the_last_fabric_may_be_let_go_of_in_a_callback) {
  auto kept = std::make_shared<Fabric>(must(open_client()));
  std::promise<void> gone;
  const Fabric& client = *kept;
  client.submit(plain(), [kept, &gone](const auto& submitted) mutable {
    EXPECT_TRUE(submitted);
    kept.reset();
    gone.set_value();
  });
  kept.reset();
  gone.get_future().wait();
}

}  // namespace
}  // namespace ff::test
