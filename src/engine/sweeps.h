#pragma once

#include "core/access.h"
#include "log/log.h"
#include "engine/metrics.h"
#include "engine/runtime.h"
#include "store/store.h"

#include <flowfabric/open.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace ff::engine {

/// Rows of a sweep whose action failed are skipped for a while: 1 s, doubling to 5 min; a success forgets them.
class BackOff {
 public:
  void failed(const std::string& key, std::string error, SteadyUs now);
  void succeeded(const std::string& key) { items_.erase(key); }
  bool skips(const std::string& key, SteadyUs now) const;
  std::size_t size() const { return items_.size(); }
  std::vector<std::string> describe(std::size_t limit) const;

 private:
  struct Item {
    SteadyUs until = 0;
    SteadyUs delay = 0;
    std::string error;
  };
  std::map<std::string, Item> items_;
};

/// The periodic jobs: what reacts to time. Any number of processes may run the same ones at once; each row is looked
/// at again under its lock, so nothing depends on who comes first.
///
/// One loop runs them all. A run selects due rows without a lock and turns each into an ordinary operation; the next
/// run of that sweep starts when all of them are answered. Besides its interval, a sweep runs when a clock that this
/// process itself has set rings.
class Sweeps final : public Loop {
 public:
  /// What a sweep asks of the engine.
  struct Host {
    std::function<void(const ExecutionId&, core::TimerKind, std::move_only_function<void(Result<bool>)>)> ring;
    std::function<void(const ExecutionId&, std::move_only_function<void(Result<bool>)>)> retire;
    std::function<void(const core::IdempotencyId&, std::move_only_function<void(Result<bool>)>)> forget;
    std::function<void(const core::DocumentId&, std::move_only_function<void(Result<bool>)>)> sweep;
    std::function<void(std::move_only_function<void(store::Session&)>)> with_session;
  };

  Sweeps(Runtime& runtime, const Log& log, const OpenOptions& options, Host host);
  ~Sweeps() override { stop(); }

  void start(std::unique_ptr<store::Reader> reader);
  /// Ends after the operations that are under way. Returns how many sweeps had not finished; a second call returns 0.
  int stop();

  /// A commit of this process set these clocks.
  void committed(const std::deque<store::Unit>& units);
  /// The clock was moved by hand: everything may be due.
  void clock_moved();

  std::vector<SweepInfo> info();
  /// How long runs took, by sweep.
  std::map<std::string, Durations> durations();
  SteadyUs step() override;

 private:
  enum class Job : std::uint8_t { timer, retention, events, keys, workers };
  struct Sweep {
    std::string name;
    Job job = Job::timer;
    core::TimerKind kind = core::TimerKind::delay;
    std::uint64_t interval_ms = 1000;
    std::uint32_t batch = 1000;
    bool enabled = true;
    SteadyUs next_at = 0;
    std::uint32_t in_flight = 0;
    bool full = false;    ///< the last selection came back full: go on without waiting
    std::string resume;   ///< where the last walk over the clocks stopped; empty: begin with the earliest
    SteadyUs started_at = 0;
    std::uint64_t run_processed = 0, run_errors = 0;
    SweepInfo stats;
    Durations duration;
    BackOff back_off;
    /// Times, in the store's clock, at which one of our own records will be due.
    std::set<TimeMs> upcoming;
  };
  struct Outcome {
    std::size_t sweep;
    std::string key;
    std::optional<Error> error;
    std::uint64_t rows = 1;
  };

  void run(std::size_t index, TimeMs now);
  void select_timers(std::size_t index, TimeMs now);
  void select_retired(std::size_t index, TimeMs now);
  void select_keys(std::size_t index, TimeMs now);
  void select_documents(std::size_t index, core::DocumentKind kind, TimeMs now);
  void trim_events(std::size_t index, TimeMs now);
  void selection_failed(Sweep& sweep, const Error& error);
  bool accepts(const core::ExecutionRecord& record) const;
  std::move_only_function<void(Result<bool>)> answer(std::size_t index, std::string key);
  void report(Outcome outcome);
  void collect();
  void finish(Sweep& sweep);

  Runtime& runtime_;
  const Log& log_;
  OpenOptions options_;
  Host host_;
  std::unique_ptr<store::Reader> reader_;
  std::unique_ptr<Runner> runner_;

  std::mutex mutex_;  ///< guards everything below; held only for moments
  std::vector<Sweep> sweeps_;
  std::vector<Outcome> outcomes_;
  bool stopping_ = false;
  bool stopped_ = false;
};

}  // namespace ff::engine
