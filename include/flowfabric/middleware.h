#pragma once

// Middleware that comes with the library: functions around handlers, for `Worker::use`.
//
//     auto metrics = std::make_shared<ff::TaskMetrics>();
//     worker.use(ff::break_circuit({.failures = 5}))
//           .use(ff::limit_rate({.per_second = 20}))
//           .use(ff::count_tasks(metrics))
//           .use(ff::log_tasks(sink));
//
// The last added is the outermost: here a line of the log tells of every task, also of one that was given back because
// a limit was reached. Middleware is of this process alone, and nothing that must hold depends on it.

#include <flowfabric/log.h>
#include <flowfabric/metrics.h>
#include <flowfabric/pace.h>
#include <flowfabric/task.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ff {

/// What an outcome is called in logs and figures: `completed`, `failed`, `delayed`, `waiting_children`.
std::string_view word_for(const Outcome& outcome);

/// A line for each task that has ended: kind, execution, attempt, outcome, how long it took. Failures and exceptions are
/// warnings and say why.
Middleware log_tasks(LogSink sink, Pace pace = {});

/// Counts and durations of tasks by kind and outcome: a word of `word_for`, or `threw`.
struct TaskMetrics : DurationMetrics {
  TaskMetrics() : DurationMetrics({"ff_worker_task", "kind", "Tasks whose handlers run", "How long tasks took"}) {}
};

Middleware count_tasks(std::shared_ptr<TaskMetrics> metrics, Pace pace = {});

/// How often tasks may begin.
struct RateLimit {
  double per_second = 1;
  double burst = 0;                            ///< how many may begin at once; 0: as many as in a second, one at least
  std::chrono::milliseconds wait_max{5'000};   ///< a task that would have to wait longer is given back until its turn
  /// The bucket that a task draws from; none: it is not limited. Unset: all draw from the same.
  std::function<std::optional<std::string>(const Task&)> bucket = {};
  Pace pace = {};
};

/// Lets tasks begin at a bounded rate, by token buckets. A task over the limit waits for its turn under its lease, or is
/// given back with a delay: neither costs it a retry. A wait ends when the task is told to stop.
Middleware limit_rate(RateLimit limit);

/// When a kind of task is left alone for a while.
struct CircuitBreak {
  std::uint32_t failures = 5;                   ///< transient failures in a row that open the circuit
  std::chrono::milliseconds open_for{30'000};
  std::chrono::milliseconds trial_delay{1'000};  ///< how long tasks stay away while the trial runs
  Pace pace = {};
};

/// After so many transient failures of a kind in a row, its tasks are given back unharmed until `open_for` has gone by;
/// a retry is not counted. Then one goes through as a trial: a transient failure opens the circuit again, everything
/// else closes it. An exception is a transient failure, save a PayloadError.
Middleware break_circuit(CircuitBreak rule = {});

}  // namespace ff
