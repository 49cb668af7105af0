// Records that cannot be read: the call that needs one is told which table and field it is; all others go on. And what
// `verify` finds.

#include "store/store_file.h"

#include <fmt/format.h>

namespace ff::test {
namespace {

class Damage : public StoreFile {
 protected:
  Damage() : opened_(open()), fabric_(opened_.fabric) {
    bad_ = submit(fabric_);
    good_ = submit(fabric_);
    // With tags, a result and a past attempt, so that every table has a row of it.
    rich_ = must(fabric_.submit({.execution_kind = "job", .lane_id = "rich", .tags = {{"team", "red"}}})).execution_id;
    for (int i = 0; i < 2; ++i) {
      const auto task = must(fabric_.claim({.worker_id = "pool", .worker_instance_id = "w1", .lanes = {"rich"}})).at(0);
      must(fabric_.complete({.handle = task.handle, .result = "done"}));
      if (i == 0) must(fabric_.replay(rich_));
    }
  }

  /// A condition that finds its row.
  static std::string row_of(const ExecutionId& id) {
    std::string hex;
    for (const std::uint8_t byte : id.uuid.bytes) hex += fmt::format("{:02x}", byte);
    return fmt::format("execution_id = x'{}{:04x}'", hex, id.partition);
  }
  std::string seq_of(const ExecutionId& id) const { return value("SELECT seq FROM ff_exec_core WHERE " + row_of(id)); }

  /// A claim finds this one, which may stand behind a damaged one, and all goes its way.
  void expect_others_work(const ExecutionId& next) const {
    const ClaimedTask task = claim(fabric_);
    EXPECT_EQ(task.execution.execution_id, next) << "the damaged one is passed over";
    EXPECT_THAT(fabric_.complete({.handle = task.handle}), Succeeds());
    EXPECT_THAT(fabric_.submit({.execution_kind = "job"}), Succeeds());
  }

  Opened opened_;
  Fabric fabric_;
  ExecutionId bad_, good_, rich_;
};

/// Refused as damaged, with these words in the message: the table and the field.
void expect_names(const auto& result, const std::string& table, const std::string& field) {
  ASSERT_THAT(result, Refused(ErrorCode::corruption));
  EXPECT_THAT(result.error().to_string(), AllOf(HasSubstr(table), HasSubstr(field)));
}

}  // namespace

TEST_F(Damage, T14_a_state_that_does_not_exist) {
  execute("UPDATE ff_exec_core SET state = state | (7 << 4) WHERE " + row_of(bad_));
  expect_names(fabric_.get(bad_), "ff_exec_core", "eligibility_state");
  expect_names(fabric_.cancel(bad_), "ff_exec_core", "eligibility_state");
  EXPECT_THAT(faults(opened_), Contains(AllOf(HasSubstr(bad_.to_string()), HasSubstr("eligibility_state"))));
  expect_others_work(good_);
}

TEST_F(Damage, T14_details_that_are_no_json) {
  execute("UPDATE ff_exec_core SET details = '{broken' WHERE " + row_of(bad_));
  expect_names(fabric_.get(bad_), "ff_exec_core", "details");
  EXPECT_THAT(faults(opened_), SizeIs(1));
  expect_others_work(good_);
}

TEST_F(Damage, T14_a_member_that_does_not_exist) {
  execute("UPDATE ff_exec_core SET details = '{\"surprise\": 1}' WHERE " + row_of(bad_));
  expect_names(fabric_.get(bad_), "ff_exec_core", "surprise");
  expect_others_work(good_);
}

TEST_F(Damage, T14_a_queue_that_does_not_exist) {
  execute("UPDATE ff_exec_core SET queue_id = 4711 WHERE " + row_of(bad_));
  expect_names(fabric_.get(bad_), "ff_exec_core", "queue_id");
  expect_others_work(good_);
}

TEST_F(Damage, T14_a_policy_that_is_none) {
  execute("UPDATE ff_exec_info SET policy = '[]' WHERE seq = " + seq_of(bad_));
  expect_names(fabric_.get(bad_), "ff_exec_info", "policy");
  expect_others_work(good_);
}

TEST_F(Damage, T14_a_lost_written_once_part) {
  execute("DELETE FROM ff_exec_info WHERE seq = " + seq_of(bad_));
  expect_names(fabric_.get(bad_), "ff_exec_info", "seq");
  EXPECT_THAT(faults(opened_), Contains(HasSubstr("ff_exec_info")));
  expect_others_work(good_);
}

TEST_F(Damage, T14_tags_that_are_no_json) {
  execute("UPDATE ff_exec_info SET tags = 'red' WHERE seq = " + seq_of(rich_));
  expect_names(fabric_.get(rich_), "ff_exec_info", "tags");
  expect_others_work(bad_);
}

TEST_F(Damage, T14_a_past_attempt_that_is_none) {
  execute("UPDATE ff_attempt_past SET attempt = '{\"attempt_type\": \"sideways\"}' WHERE seq = " + seq_of(rich_));
  expect_names(fabric_.attempts({.execution_id = rich_}), "ff_attempt", "attempt_type");
  EXPECT_THAT(fabric_.get(rich_), Succeeds());
  EXPECT_THAT(faults(opened_), Contains(AllOf(HasSubstr(rich_.to_string()), HasSubstr("attempt_type"))));
}

TEST_F(Damage, T14_an_event_that_is_none) {
  execute("UPDATE ff_event SET extra = '{' WHERE event_id = (SELECT last_event_id FROM ff_exec_core WHERE " +
          row_of(rich_) + ")");
  expect_names(fabric_.history({.execution_id = rich_}), "ff_event", "extra");
  EXPECT_THAT(fabric_.get(rich_), Succeeds());
}

TEST_F(Damage, T14_a_lane_of_an_unknown_state) {
  execute("UPDATE ff_lane_registry SET lane_state = 'closed' WHERE lane_id = 'rich'");
  expect_names(fabric_.configure_lane({.lane_id = "rich", .fairness = LaneFairness::strict}), "ff_lane_registry",
               "lane_state");
  expect_others_work(bad_);
}

/// A list leaves out what it cannot read: one damaged record must not hide all others.
TEST_F(Damage, lists_go_on) {
  execute("UPDATE ff_exec_core SET state = state | (7 << 4) WHERE " + row_of(bad_));
  std::vector<ExecutionId> listed;
  for (const auto& item : must(fabric_.list()).items) listed.push_back(item.execution_id);
  EXPECT_THAT(listed, ::testing::UnorderedElementsAre(good_, rich_));
  EXPECT_THAT(fabric_.lanes(), Succeeds());
  EXPECT_THAT(fabric_.leases(), Succeeds());
}

TEST_F(Damage, verify_finds_what_was_planted) {
  EXPECT_THAT(faults(opened_), IsEmpty());
  auto expect_found = [&](const std::string& damage, const std::string& repair, const std::string& words) {
    execute(damage);
    EXPECT_THAT(faults(opened_), ElementsAre(HasSubstr(words))) << damage;
    execute(repair);
    EXPECT_THAT(faults(opened_), IsEmpty()) << repair;
  };
  const std::string row = " WHERE " + row_of(bad_);
  expect_found("UPDATE ff_exec_core SET candidate = NULL" + row, "UPDATE ff_exec_core SET candidate = 1" + row,
               "candidate");
  expect_found("UPDATE ff_exec_core SET due_at_ms = 5" + row, "UPDATE ff_exec_core SET due_at_ms = NULL" + row,
               "due_at_ms");
  expect_found("UPDATE ff_exec_core SET bucket = 9" + row, "UPDATE ff_exec_core SET bucket = 0" + row, "bucket");
  expect_found("DELETE FROM ff_exec_tag",
               "INSERT INTO ff_exec_tag SELECT 'team', 'red', created_at_ms, execution_id FROM "
               "ff_exec_core WHERE " +
                   row_of(rich_),
               "ff_exec_tag");
  expect_found("INSERT INTO ff_exec_tag SELECT 'team', 'blue', created_at_ms, execution_id FROM ff_exec_core" + row,
               "DELETE FROM ff_exec_tag WHERE tag_value = 'blue'", "ff_exec_tag");
  expect_found("INSERT INTO ff_exec_result VALUES (4711, NULL, 'x')", "DELETE FROM ff_exec_result WHERE seq = 4711",
               "ff_exec_result");
}

TEST_F(Damage, a_damaged_page_is_found_at_the_next_start_after_a_crash) {
  for (int i = 0; i < 200; ++i) submit(fabric_, std::string(1'000, 'x'));
  fabric_.close();
  fabric_ = opened_.fabric = Fabric();
  // The middle of the file, as a broken disk leaves it, and a log as a crash leaves it.
  std::FILE* file = std::fopen(path().c_str(), "r+b");
  std::fseek(file, 5 * 4'096, SEEK_SET);
  for (int i = 0; i < 20 * 4'096; ++i) std::fputc(0xa5, file);
  std::fclose(file);
  std::FILE* log = std::fopen((path() + "-wal").c_str(), "wb");
  std::fputs("the rest of a log", log);
  std::fclose(log);
  auto refused = try_open();
  ASSERT_THAT(refused, RefusedWith(ErrorCode::store_refused, "reason", "unsafe_settings"));
  EXPECT_THAT(refused.error().message, HasSubstr("backup"));
}

}  // namespace ff::test
