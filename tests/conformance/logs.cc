// 06, section 5: what the engine writes to its log.

#include "conformance/conformance.h"

namespace ff::test {

TEST_P(Background, T71_logs_hold_no_handle_and_no_payload) {
  std::mutex mutex;
  std::string all;
  auto faults = std::make_shared<Faults>();
  restart({.log =
               [&](LogLevel, std::string_view message, std::span<const LogField> fields) {
                 std::lock_guard guard(mutex);
                 all.append(message).push_back('\n');
                 for (const auto& field : fields)
                   all.append(field.name).append("=").append(field.value).push_back('\n');
               }},
          with(faults));
  Submission submission = job(R"({"retry_policy": {"max_retries": 5, "backoff": {"type": "fixed", "delay_ms": 10}}})");
  submission.payload = "secret-payload";
  submission.tags = {{"team", "red"}};
  const auto id = submit(submission);
  std::vector<ClaimedTask> tasks = {claim()};
  must(fail(tasks.back(), "failed"));
  advance(10);
  tasks.push_back(claim());
  advance(30'001);
  EXPECT_THAT(renew(tasks.back()), Refused(ErrorCode::lease_expired));
  tasks.push_back(claim());
  faults->break_execution(id);  // what goes wrong is logged
  EXPECT_THAT(complete(tasks.back()), Not(Succeeds()));
  advance(30'001);
  faults->mend_executions();
  ASSERT_TRUE(eventually([&] {  // the sweep tries the row again after a while
    clock->advance(0);
    for (auto& task : claim(1)) tasks.push_back(std::move(task));
    return tasks.size() == 4;
  }));
  EXPECT_THAT(complete(tasks.front()), Not(Succeeds()));
  must(fabric.complete({.handle = tasks.back().handle, .result = "secret-result"}));
  restart();

  std::lock_guard guard(mutex);
  EXPECT_THAT(all, HasSubstr(id.to_string())) << "something was logged at all";
  EXPECT_THAT(all, Not(HasSubstr("secret-")));
  for (const auto& task : tasks) {
    // Not even a part of one: neither what every handle of the data set begins with nor its tag.
    EXPECT_THAT(all, Not(HasSubstr(task.handle.substr(0, 40))));
    EXPECT_THAT(all, Not(HasSubstr(task.handle.substr(task.handle.size() - 20))));
  }
}

}  // namespace ff::test
