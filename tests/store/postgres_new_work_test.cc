// Work that a process has submitted itself is handed out from memory: its rows are locked, but not read again. What others
// have submitted or changed meanwhile has to come out the same.

#include "store/postgres_fixture.h"

namespace ff::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PostgresNewWork : public OnPostgres {
 protected:
  PostgresNewWork() : here(open({.sweeps = false})), there(open({.sweeps = false})) {}

  static Submission submission(const std::string& payload) {
    return {.execution_kind = "k", .payload = payload, .content_type = "text/plain", .tags = {{"of", payload}}};
  }
  static ExecutionId submit(Opened& to, const std::string& payload) {
    return must(to.fabric.submit(submission(payload))).execution_id;
  }
  static std::vector<ClaimedTask> claim(Opened& from, std::uint32_t max) {
    return must(from.fabric.claim({.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}, .max = max}));
  }
  static std::vector<std::string> payloads(const std::vector<ClaimedTask>& tasks) {
    std::vector<std::string> all;
    for (const auto& task : tasks) all.push_back(task.payload.value_or("none"));
    return all;
  }
  /// Creations of two processes are ordered by the millisecond.
  static void next_millisecond() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

  Opened here, there;
};

TEST_F(PostgresNewWork, comes_with_everything_that_was_submitted) {
  const ExecutionId id = submit(here, "own");
  submit(here, "behind");
  const auto tasks = claim(here, 1);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].execution.execution_id, id);
  EXPECT_EQ(tasks[0].payload, "own");
  EXPECT_EQ(tasks[0].payload_content_type, "text/plain");
  EXPECT_EQ(tasks[0].execution.tags, (Tags{{"of", "own"}}));
  EXPECT_EQ(tasks[0].execution.execution_kind, "k");
  EXPECT_EQ(tasks[0].attempt.attempt_index, 0U);
  must(here.fabric.complete({.handle = tasks[0].handle, .result = "done"}));
  EXPECT_EQ(must(there.fabric.result(id))->bytes, "done");
  EXPECT_EQ(must(there.fabric.payload(id))->bytes, "own");
}

TEST_F(PostgresNewWork, of_several_processes_is_given_in_one_order) {
  for (int i = 0; i < 3; ++i) {
    submit(here, "here" + std::to_string(i));
    next_millisecond();
    submit(there, "there" + std::to_string(i));
    next_millisecond();
  }
  EXPECT_THAT(payloads(claim(here, 3)), ElementsAre("here0", "there0", "here1"));
  EXPECT_THAT(payloads(claim(there, 3)), ElementsAre("there1", "here2", "there2"));
}

TEST_F(PostgresNewWork, that_others_changed_is_given_as_it_is_now) {
  const ExecutionId first = submit(here, "first"), second = submit(here, "second");
  const ExecutionId third = submit(here, "third");
  submit(here, "fourth");
  must(there.fabric.change_priority(third, 9));
  must(there.fabric.cancel(first));
  must(there.fabric.set_tags(second, {{"changed", "yes"}}));
  const auto tasks = claim(here, 2);
  EXPECT_THAT(payloads(tasks), ElementsAre("third", "second"));
  EXPECT_EQ(tasks.at(0).execution.priority, 9);
  EXPECT_EQ(tasks.at(1).execution.tags.at("changed"), "yes");
}

TEST_F(PostgresNewWork, that_others_removed_and_made_anew_is_the_new_one) {
  Submission own = submission("old");
  own.execution_id = must(here.fabric.submit(submission("before"))).execution_id;
  own.execution_id->uuid.bytes[15] ^= 1;
  must(here.fabric.submit(own));
  must(there.fabric.cancel(*own.execution_id));
  must(there.fabric.remove(*own.execution_id));
  own.payload = "new";
  must(there.fabric.submit(own));
  EXPECT_THAT(payloads(claim(here, 2)), ElementsAre("before", "new"));
}

TEST_F(PostgresNewWork, that_was_given_elsewhere_is_not_given_again) {
  submit(here, "first");
  submit(here, "second");
  EXPECT_THAT(payloads(claim(there, 1)), ElementsAre("first"));
  EXPECT_THAT(payloads(claim(here, 5)), ElementsAre("second"));
  EXPECT_THAT(claim(here, 5), IsEmpty());
}

TEST_F(PostgresNewWork, behind_much_that_others_submitted_is_found) {
  for (int i = 0; i < 30; ++i) submit(there, "there" + std::to_string(i));
  next_millisecond();
  for (int i = 0; i < 5; ++i) submit(here, "here" + std::to_string(i));
  ASSERT_TRUE(eventually([&] { return must(here.fabric.lane_counts("default")).eligible.value == 35; }));
  EXPECT_THAT(payloads(claim(here, 2)), ElementsAre("there0", "there1"));
  std::vector<std::string> rest;
  while (true) {
    const auto some = payloads(claim(here, 4));
    if (some.empty()) break;
    rest.insert(rest.end(), some.begin(), some.end());
  }
  ASSERT_EQ(rest.size(), 33U);
  EXPECT_EQ(rest.back(), "here4");
}

}  // namespace
}  // namespace ff::test
