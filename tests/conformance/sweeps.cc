// 06, sections 1.1 to 1.5: how sweeps run.

#include "conformance/conformance.h"

#include <thread>

namespace ff::test {
namespace {

/// Rows that a sweep can look at in one walk, and some.
constexpr std::size_t kMoreThanOneWalk = store::kListWalkMax + 500;

/// What the engine logs, line by line: `message name=value ...`.
class LogLines {
 public:
  LogSink sink() {
    return [this](LogLevel level, std::string_view message, std::span<const LogField> fields) {
      std::string line(message);
      for (const auto& field : fields) line += fmt::format(" {}={}", field.name, field.value);
      std::lock_guard guard(mutex_);
      lines_.emplace_back(level, std::move(line));
    };
  }
  std::size_t count(LogLevel level, std::string_view part) {
    std::lock_guard guard(mutex_);
    return static_cast<std::size_t>(std::count_if(lines_.begin(), lines_.end(), [&](const auto& line) {
      return line.first == level && line.second.find(part) != std::string::npos;
    }));
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

}  // namespace

TEST_P(Background, T1_an_empty_run_is_counted_and_not_logged) {
  LogLines log;
  restart({.log = log.sink()});
  const std::uint64_t runs = sweep("lease_expiry").runs;
  advance(1);
  EXPECT_GE(sweep("lease_expiry").runs, runs + 1);
  EXPECT_EQ(sweep("lease_expiry").processed, 0U);
  EXPECT_EQ(log.count(LogLevel::info, "sweep run"), 0U);
  EXPECT_EQ(log.count(LogLevel::info, "sweep started sweep=lease_expiry interval_ms=1000"), 1U);

  lost();
  EXPECT_EQ(log.count(LogLevel::info, "sweep run sweep=lease_expiry processed=1 errors=0"), 1U);
  restart();
}

TEST_P(Background, T2_sweeps_that_are_off) {
  LogLines log;
  restart({.sweeps_off = {"lease_expiry"}, .log = log.sink()});
  EXPECT_EQ(log.count(LogLevel::warn, "sweep=lease_expiry"), 1U);
  EXPECT_FALSE(sweep("lease_expiry").enabled);
  const ClaimedTask task = running(R"({"timeout_policy": {"attempt_timeout_ms": 40000}})");
  advance(30'001);
  EXPECT_EQ(vector_of(task.execution.execution_id), kRunning);
  EXPECT_EQ(sweep("lease_expiry").runs, 0U);
  advance(10'000);
  EXPECT_EQ(vector_of(task.execution.execution_id), kWaitingRetry) << "the others run";
  restart({.sweeps = false, .log = log.sink()});
  for (const auto& each : must(fabric.info()).sweeps) EXPECT_FALSE(each.enabled) << each.sweep;
  restart();
}

TEST_P(Background, T2_the_list_of_sweeps) {
  std::map<std::string, std::uint64_t> intervals;
  for (const auto& each : must(fabric.info()).sweeps) intervals[each.sweep] = each.interval_ms;
  const std::map<std::string, std::uint64_t> expected = {
      {"delayed_promoter", 750},     {"lease_expiry", 1'000},   {"attempt_timeout", 2'000}, {"execution_deadline", 5'000},
      {"retention_trimmer", 60'000}, {"event_trimmer", 60'000}, {"expired_records", 60'000},
      {"worker_registry_ttl_sweep", 30'000}};
  EXPECT_EQ(intervals, expected);
  restart({.sweep_interval_ms = {{"lease_expiry", 77}}});
  EXPECT_EQ(sweep("lease_expiry").interval_ms, 77U);
}

TEST_P(Background, T3_start_and_stop_at_once) {
  for (int i = 0; i < 5; ++i) {
    restart();
    fabric.close();
    fabric.close();
  }
  restart();
}

TEST_P(Background, T4_one_of_three_rows_fails) {
  auto faults = std::make_shared<Faults>();
  restart({}, with(faults));
  std::vector<ExecutionId> three;
  for (int i = 0; i < 3; ++i) {
    Submission later = job();
    later.delay_ms = 1'000;
    three.push_back(submit(later));
  }
  faults->break_execution(three[1]);
  advance(1'000);
  const SweepInfo report = sweep("delayed_promoter");
  EXPECT_EQ(report.processed, 2U);
  EXPECT_EQ(report.errors, 1U);
  EXPECT_EQ(state_of(three[0]), PublicState::waiting);
  EXPECT_EQ(state_of(three[1]), PublicState::delayed);
  EXPECT_EQ(state_of(three[2]), PublicState::waiting);
  faults->mend_executions();
}

TEST_P(Background, T5_a_run_that_throws) {
  auto faults = std::make_shared<Faults>();
  LogLines log;
  restart({.log = log.sink()}, with(faults));
  const ClaimedTask task = running();
  faults->crashes = 4;  // one for each of the four clocks
  clock->advance(30'001);
  ASSERT_TRUE(eventually([&] { return sweep("lease_expiry").restarts == 1; }));
  EXPECT_EQ(log.count(LogLevel::error, "sweep=lease_expiry restart_count=1"), 1U);
  EXPECT_TRUE(eventually([&] {  // and it goes on
    clock->advance(1);
    return vector_of(task.execution.execution_id) == kLeaseLost;
  }));

  // Shutting down does not wait for the restart.
  faults->crashes = -1;
  clock->advance(1);
  ASSERT_TRUE(eventually([&] { return sweep("lease_expiry").restarts >= 2; }));
  fabric.close();
  faults->crashes = 0;
  restart();
}

TEST_P(Background, T6_failing_rows_are_put_off_and_listed) {
  auto faults = std::make_shared<Faults>();
  restart({}, with(faults));
  Submission later = job();
  later.delay_ms = 1'000;
  const auto id = submit(later);
  faults->break_execution(id);
  advance(1'000);
  SweepInfo report = sweep("delayed_promoter");
  EXPECT_EQ(report.errors, 1U);
  EXPECT_EQ(report.backoff_items, 1U);
  ASSERT_THAT(report.backoff, SizeIs(1));
  EXPECT_THAT(report.backoff[0], AllOf(HasSubstr(id.to_string()), HasSubstr("broken by a test")));
  faults->mend_executions();
  EXPECT_TRUE(eventually([&] {  // after a second it is tried again, and a success forgets it
    clock->advance(0);
    return sweep("delayed_promoter").backoff_items == 0;
  }));
  EXPECT_EQ(state_of(id), PublicState::waiting);
  EXPECT_EQ(sweep("delayed_promoter").errors, 1U);
}

TEST_P(Background, T7_rows_that_always_fail_hold_up_nobody) {
  auto faults = std::make_shared<Faults>();
  restart({.sweeps = false}, with(faults));
  std::vector<Submission> failing(1'000);  // a whole batch of the sweep
  for (auto& submission : failing) {
    submission = job();
    submission.delay_ms = 1'000;
  }
  for (const auto& answer : fabric.submit_all(failing)) faults->break_execution(must(answer).execution_id);
  Submission good = job();
  good.delay_ms = 1'001;
  submit(good);
  restart({}, with(faults));
  clock->advance(1'001);
  EXPECT_TRUE(eventually([&] {
    clock->advance(0);
    return state_of(*good.execution_id) == PublicState::waiting;
  }));
  EXPECT_GE(sweep("delayed_promoter").errors, 1'000U);
}

TEST_P(Background, T9_filter_by_namespace) {
  restart({.scanner_namespace = "mine"});
  Submission mine = job(), other = job();
  mine.namespace_ = "mine";
  mine.delay_ms = other.delay_ms = 1'000;
  submit(mine);
  submit(other);
  advance(1'000);
  EXPECT_EQ(state_of(*mine.execution_id), PublicState::waiting);
  EXPECT_EQ(state_of(*other.execution_id), PublicState::delayed);
  EXPECT_EQ(sweep("delayed_promoter").processed, 1U);
  EXPECT_GE(sweep("delayed_promoter").filtered, 1U);
}

TEST_P(Background, T9_filter_by_tag) {
  restart({.scanner_instance_tag = {{"instance", "one"}}});
  std::vector<Submission> others(3);
  for (auto& other : others) other = job();
  others[1].tags = {{"instance", "two"}};
  others[2].tags = {{"other", "one"}};
  Submission mine = job();
  mine.tags = {{"instance", "one"}, {"other", "x"}};
  mine.delay_ms = 1'000;
  submit(mine);
  for (auto& other : others) {
    other.delay_ms = 1'000;
    submit(other);
  }
  advance(1'000);
  EXPECT_EQ(state_of(*mine.execution_id), PublicState::waiting);
  for (const auto& other : others) EXPECT_EQ(state_of(*other.execution_id), PublicState::delayed);
}

TEST_P(Background, T9_filtered_rows_use_no_batch_slot) {
  restart({.scanner_namespace = "mine"});
  std::vector<Submission> others(1'500);
  for (auto& other : others) {
    other.execution_kind = "job";
    other.delay_ms = 900;
  }
  for (const auto& answer : fabric.submit_all(others)) ASSERT_THAT(answer, Succeeds());
  Submission mine = job();
  mine.namespace_ = "mine";
  mine.delay_ms = 1'000;
  submit(mine);
  advance(1'200);
  EXPECT_EQ(state_of(*mine.execution_id), PublicState::waiting);
}

TEST_P(Background, T9_refused_rows_do_not_hide_those_behind_them) {
  restart({.scanner_namespace = "mine"});
  std::vector<Submission> others(kMoreThanOneWalk);
  for (auto& other : others) {
    other.execution_kind = "job";
    other.delay_ms = 900;
  }
  for (const auto& answer : fabric.submit_all(others)) ASSERT_THAT(answer, Succeeds());
  Submission mine = job();
  mine.namespace_ = "mine";
  mine.delay_ms = 1'000;
  submit(mine);
  clock->advance(1'200);
  EXPECT_TRUE(eventually([&] {
    clock->advance(0);
    return state_of(*mine.execution_id) == PublicState::waiting;
  }));
  // And round again: what becomes due before the place where the last walk stopped is found as well.
  Submission sooner = job();
  sooner.namespace_ = "mine";
  sooner.execution_deadline_at_ms = 1;
  submit(sooner);
  EXPECT_TRUE(eventually([&] {
    clock->advance(0);
    return state_of(*sooner.execution_id) == PublicState::expired;
  }));
}

TEST_P(Background, T9_refused_ends_do_not_hide_those_behind_them) {
  restart({.scanner_instance_tag = {{"instance", "one"}}});
  std::vector<Submission> others(kMoreThanOneWalk);
  for (auto& other : others) {
    other.execution_kind = "job";
    other.policy = Policy{.retention_ttl_ms = 1'000};
  }
  std::atomic<std::size_t> ended = 0;
  for (const auto& answer : fabric.submit_all(others))
    fabric.cancel({must(answer).execution_id, "enough"}, [&](const auto& result) { ended += result.has_value(); });
  ASSERT_TRUE(eventually([&] { return ended == others.size(); }));
  Submission mine = job(R"({"retention_ttl_ms": 1001})");
  mine.tags = {{"instance", "one"}};
  must(fabric.cancel(submit(mine)));
  clock->advance(1'200);
  EXPECT_TRUE(eventually([&] {
    clock->advance(0);
    return !fabric.get(*mine.execution_id).has_value();
  }));
}

TEST_P(Background, T10_two_engines_with_different_filters) {
  restart({.scanner_namespace = "a"});
  const Opened other = open_another({.scanner_namespace = "b"});
  std::map<std::string, ExecutionId> by_namespace;
  for (const char* name : {"a", "b", "c"}) {
    Submission later = job();
    later.namespace_ = name;
    later.delay_ms = 1'000;
    by_namespace[name] = submit(later);
  }
  advance(1'000);
  EXPECT_EQ(state_of(by_namespace["a"]), PublicState::waiting);
  EXPECT_EQ(state_of(by_namespace["b"]), PublicState::waiting);
  EXPECT_EQ(state_of(by_namespace["c"]), PublicState::delayed);
  EXPECT_EQ(sweep("delayed_promoter").processed, 1U);
  EXPECT_EQ(sweep(other.fabric, "delayed_promoter").processed, 1U);
}

TEST_P(Background, T11_two_processes_run_the_same_sweep) {
  struct Seen {
    std::mutex mutex;
    std::string lines;
  };
  auto seen = std::make_shared<Seen>();
  OpenOptions options;
  options.log = [seen](LogLevel, std::string_view message, std::span<const LogField> fields) {
    std::lock_guard guard(seen->mutex);
    seen->lines += message;
    for (const auto& field : fields) seen->lines += fmt::format(" {}={}", field.name, field.value);
    seen->lines += "\n";
  };
  restart(options);
  const Opened other = open_another(options);
  constexpr std::size_t kRows = 1'000;
  std::vector<Submission> rows(kRows);
  for (auto& row : rows) row = job();
  for (const auto& answer : fabric.submit_all(rows)) ASSERT_THAT(answer, Succeeds());
  for (int i = 0; i < 10; ++i) ASSERT_THAT(claim(100), SizeIs(100));
  advance(30'001);
  std::size_t expired = 0;
  for (const auto& row : rows) {
    EXPECT_EQ(vector_of(*row.execution_id), kLeaseLost);
    EXPECT_EQ(get(*row.execution_id).counters.lease_reclaim_count, 1U);
    expired += count_events(*row.execution_id, "lease expired");
  }
  EXPECT_EQ(expired, kRows);
  const auto errors = sweep("lease_expiry").errors + sweep(other.fabric, "lease_expiry").errors;
  std::lock_guard guard(seen->mutex);
  EXPECT_EQ(errors, 0U) << seen->lines;
}

TEST_P(Background, T12_more_than_a_batch_drains_at_once) {
  std::vector<Submission> rows(2'500);
  for (auto& row : rows) {
    row.execution_kind = "job";
    row.delay_ms = 1'000;
  }
  for (const auto& answer : fabric.submit_all(rows)) ASSERT_THAT(answer, Succeeds());
  std::atomic<bool> drained = false;
  std::atomic<int> foreground = 0;
  std::jthread beside([&] {
    const auto id = next_id();
    Submission own = job();
    own.execution_id = id;
    own.lane_id = "beside";
    must(fabric.submit(own));
    do {
      must(fabric.change_priority(id, ++foreground));
    } while (!drained);
  });
  clock->advance(1'200);
  EXPECT_TRUE(eventually([&] { return must(fabric.lane_counts("default")).eligible.value == 2'500; }));
  drained = true;
  beside.join();
  EXPECT_GT(foreground, 0) << "foreground operations keep flowing";
}

TEST_P(Background, T13_early_wake_up) {
  // On the machine's clock, with an interval so long that only the engine's own timer can be in time.
  World real(GetParam(), {.sweep_interval_ms = {{"delayed_promoter", 3'600'000}, {"lease_expiry", 3'600'000}}},
             Time::by_machine);
  Submission later = real.job();
  later.delay_ms = 50;
  real.submit(later);
  EXPECT_TRUE(eventually([&] { return real.state_of(*later.execution_id) == PublicState::waiting; }));
  ClaimRequest brief = World::request();
  brief.lease_ttl_ms = 1'000;
  must(real.fabric.claim(brief));
  EXPECT_TRUE(eventually([&] { return real.vector_of(*later.execution_id) == kLeaseLost; }));
}

TEST_P(Background, T13_after_a_restart_the_interval_does_it) {
  World real(GetParam(), {.sweeps = false}, Time::by_machine);
  Submission later = real.job();
  later.delay_ms = 50;
  real.submit(later);
  real.restart();
  EXPECT_TRUE(eventually([&] { return real.state_of(*later.execution_id) == PublicState::waiting; }));
}

}  // namespace ff::test
