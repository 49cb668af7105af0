#include <flowfabric/middleware.h>

#include "worker/task_state.h"

#include <gmock/gmock.h>

namespace ff {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

/// Time that only moves when it is told to, or when a middleware waits.
class MiddlewareTest : public ::testing::Test {
 protected:
  static Task task(const std::string& kind = "job") {
    ClaimedTask claimed;
    claimed.execution.execution_kind = kind;
    claimed.attempt.attempt_index = 2;
    return Task(std::make_shared<worker::TaskState>(Fabric(), std::move(claimed)));
  }
  Pace pace() {
    return {[this] { return now; },
            [this](std::chrono::milliseconds time, const std::stop_token&) {
              waits.push_back(time);
              if (is_told_to_stop) return false;
              now += time;
              return true;
            }};
  }
  /// What comes of one task.
  Outcome run(const Middleware& middleware, const Next& handler, const std::string& kind = "job") {
    Task one = task(kind);
    return middleware(one, handler);
  }
  static std::uint64_t delay_of(const Outcome& outcome) {
    const auto* later = std::get_if<Outcome::Delay>(&outcome.value());
    EXPECT_TRUE(later) << word_for(outcome);
    return later ? later->for_ms.value_or(0) : 0;
  }
  Next completing() {
    return [this](Task&) {
      ++runs;
      now += 20ms;
      return complete();
    };
  }
  Next failing(FailureClass failure_class = FailureClass::transient) {
    return [this, failure_class](Task&) {
      ++runs;
      return fail("no luck", failure_class);
    };
  }

  Pace::TimePoint now = Pace::TimePoint() + 1h;
  std::vector<std::chrono::milliseconds> waits;
  bool is_told_to_stop = false;
  int runs = 0;
};

TEST_F(MiddlewareTest, every_outcome_has_a_word) {
  EXPECT_EQ(word_for(complete()), "completed");
  EXPECT_EQ(word_for(fail("x")), "failed");
  EXPECT_EQ(word_for(delay(1s)), "delayed");
  EXPECT_EQ(word_for(wait_children()), "waiting_children");
}

TEST_F(MiddlewareTest, a_line_for_each_task) {
  std::vector<std::string> lines;
  const Middleware log = log_tasks(
      [&](LogLevel level, std::string_view message, std::span<const LogField> fields) {
        std::string line = level == LogLevel::warn ? "WARN " : "";
        line += message;
        for (const auto& field : fields)
          if (field.name != "execution_id") line += " " + std::string(field.name) + "=" + field.value;
        lines.push_back(line);
      },
      pace());
  run(log, completing(), "resize");
  EXPECT_EQ(word_for(run(log, failing())), "failed");
  EXPECT_THROW(run(log, [](Task&) -> Outcome { throw std::runtime_error("broke"); }), std::runtime_error);
  EXPECT_THROW(run(log, [](Task&) -> Outcome { throw 7; }), int);
  EXPECT_THAT(lines,
              ElementsAre("a task has ended kind=resize attempt_index=2 outcome=completed duration_ms=20.000 error=",
                          "WARN a task has ended kind=job attempt_index=2 outcome=failed duration_ms=0.000 error=no luck",
                          "WARN a task has ended kind=job attempt_index=2 outcome=threw duration_ms=0.000 error=broke",
                          HasSubstr("error=unknown exception")));
}

TEST_F(MiddlewareTest, counts_and_durations) {
  auto metrics = std::make_shared<TaskMetrics>();
  const Middleware count = count_tasks(metrics, pace());
  run(count, completing());
  run(count, completing());
  run(count, failing());
  EXPECT_THROW(run(count, [](Task&) -> Outcome { throw 7; }, "other kind"), int);
  run(count, [&](Task&) {
    EXPECT_THAT(metrics->snapshot().running, ElementsAre(Pair("job", 1U)));
    return delay(1s);
  });
  const auto snapshot = metrics->snapshot();
  EXPECT_THAT(snapshot.running, IsEmpty());
  ASSERT_THAT(snapshot.entries, SizeIs(4));
  EXPECT_EQ(snapshot.entries[0].outcome, "completed");
  EXPECT_EQ(snapshot.entries[0].count, 2U);
  EXPECT_EQ(snapshot.entries[0].total, 40ms);
  EXPECT_EQ(snapshot.entries[0].longest, 20ms);
  EXPECT_EQ(snapshot.entries[0].within.front(), 0U);
  EXPECT_EQ(snapshot.entries[0].within.back(), 2U);
  EXPECT_EQ(snapshot.entries[3].outcome, "threw");
  const std::string text = metrics->prometheus_text();
  EXPECT_THAT(text, HasSubstr("# TYPE ff_worker_task_duration_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("ff_worker_task_duration_seconds_bucket{kind=\"job\",outcome=\"completed\",le=\"0.025\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("ff_worker_task_duration_seconds_sum{kind=\"job\",outcome=\"completed\"} 0.04\n"));
  EXPECT_THAT(text, HasSubstr("ff_worker_task_duration_seconds_count{kind=\"other kind\",outcome=\"threw\"} 1\n"));
}

TEST_F(MiddlewareTest, kinds_without_end_are_counted_together) {
  TaskMetrics metrics;
  for (int i = 0; i < 1'000; ++i) {
    const std::string kind = "kind-" + std::to_string(i);
    metrics.began(kind);
    metrics.ended(kind, "completed", 1ms);
  }
  const auto entries = metrics.snapshot().entries;
  EXPECT_EQ(entries.size(), 257U);
  EXPECT_EQ(entries.back().name, "other");
  EXPECT_EQ(entries.back().count, 744U);
  TaskMetrics quoting;
  quoting.ended("a\"b\\c\nd", "completed", 1ms);
  EXPECT_THAT(quoting.prometheus_text(), HasSubstr(R"(kind="a\"b\\c\nd")"));
}

TEST_F(MiddlewareTest, T93_a_task_over_the_limit_waits_for_its_turn) {
  const Middleware limit = limit_rate({.per_second = 2, .burst = 1, .pace = pace()});
  const Next quick = [this](Task&) { return ++runs, complete(); };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(word_for(run(limit, quick)), "completed");
  EXPECT_THAT(waits, ElementsAre(500ms, 500ms));
  EXPECT_EQ(runs, 3);
}

TEST_F(MiddlewareTest, T93_a_turn_that_is_far_away_is_not_waited_for) {
  const Middleware limit = limit_rate({.per_second = 0.1, .burst = 1, .wait_max = 5s, .pace = pace()});
  run(limit, failing());
  EXPECT_EQ(delay_of(run(limit, completing())), 10'000U) << "given back until its turn";
  EXPECT_EQ(delay_of(run(limit, completing())), 10'000U) << "who was given back has taken no turn";
  now += 6s;
  EXPECT_EQ(word_for(run(limit, completing())), "completed");
  EXPECT_THAT(waits, ElementsAre(4s));
  EXPECT_EQ(runs, 2);
}

TEST_F(MiddlewareTest, a_wait_ends_when_the_task_is_told_to_stop) {
  const Middleware limit = limit_rate({.per_second = 1, .pace = pace()});
  run(limit, failing());
  is_told_to_stop = true;
  EXPECT_EQ(delay_of(run(limit, completing())), 0U) << "handed back";
  EXPECT_EQ(runs, 1);
}

TEST_F(MiddlewareTest, the_machines_time_is_stopped_by_the_token) {
  Task one = task();
  const Middleware limit = limit_rate({.per_second = 0.01, .burst = 1, .wait_max = 24h});
  const Next handler = [](Task&) { return complete(); };
  EXPECT_EQ(word_for(limit(one, handler)), "completed");
  auto state = std::make_shared<worker::TaskState>(Fabric(), ClaimedTask());
  Task stopped(state);
  state->stop(StopReason::draining);
  EXPECT_EQ(delay_of(limit(stopped, handler)), 0U);
}

TEST_F(MiddlewareTest, tasks_draw_from_the_buckets_that_they_name) {
  RateLimit rule{.per_second = 1, .wait_max = 0s, .pace = pace()};
  rule.bucket = [](const Task& task) -> std::optional<std::string> {
    return task.kind() == "free" ? std::nullopt : std::optional(task.kind());
  };
  const Middleware limit = limit_rate(rule);
  const Next quick = [](Task&) { return complete(); };
  EXPECT_EQ(word_for(run(limit, quick, "a")), "completed");
  EXPECT_EQ(word_for(run(limit, quick, "b")), "completed");
  EXPECT_EQ(delay_of(run(limit, quick, "a")), 1'000U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(word_for(run(limit, quick, "free")), "completed");
  for (int i = 0; i < 5'000; ++i) run(limit, quick, "name-" + std::to_string(i));
  EXPECT_EQ(delay_of(run(limit, quick, "a")), 1'000U) << "however many names there are, those in use are kept";
}

TEST_F(MiddlewareTest, T93_a_kind_that_fails_is_left_alone) {
  const Middleware circuit = break_circuit({.failures = 3, .open_for = 30s, .trial_delay = 2s, .pace = pace()});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(word_for(run(circuit, failing())), "failed");
  now += 1s;
  EXPECT_EQ(delay_of(run(circuit, completing())), 29'000U) << "given back, no retry is counted";
  EXPECT_EQ(word_for(run(circuit, completing(), "another kind")), "completed");
  EXPECT_EQ(runs, 4);
  now += 30s;
  run(circuit, [&](Task&) {
    EXPECT_EQ(delay_of(run(circuit, completing())), 2'000U) << "one at a time";
    return fail("still broken");
  });
  EXPECT_EQ(delay_of(run(circuit, completing())), 30'000U);
  now += 30s;
  EXPECT_EQ(word_for(run(circuit, completing())), "completed");
  EXPECT_EQ(word_for(run(circuit, completing())), "completed");
}

TEST_F(MiddlewareTest, T93_what_counts_as_a_failure) {
  const Middleware circuit = break_circuit({.failures = 2, .pace = pace()});
  const Next payload = [](Task&) -> Outcome { throw PayloadError("no number"); };
  const Next broken = [](Task&) -> Outcome { throw std::runtime_error("x"); };
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(word_for(run(circuit, failing(FailureClass::permanent))), "failed");
    EXPECT_THROW(run(circuit, payload), PayloadError);
    EXPECT_EQ(word_for(run(circuit, [](Task&) { return delay(1s); })), "delayed");
  }
  EXPECT_THROW(run(circuit, broken), std::runtime_error);
  EXPECT_THROW(run(circuit, broken), std::runtime_error);
  EXPECT_EQ(word_for(run(circuit, broken)), "delayed") << "open";
}

}  // namespace
}  // namespace ff
