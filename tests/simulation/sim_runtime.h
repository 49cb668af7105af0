#pragma once

// Time and turns. Every loop of every simulated process, and everybody outside, is stepped from one thread in an order
// that the seed chooses; the clock is a number that moves between steps.

#include "engine/runtime.h"
#include "random.h"
#include "trace.h"

#include <memory>
#include <string>
#include <vector>

namespace ff::sim {

using engine::kNever;
using engine::SteadyUs;

/// Chooses who is next. A loop is ready when it was notified or when the time that it asked for has come.
class Scheduler {
 public:
  Scheduler(Random random, Trace& trace) : random_(random), trace_(trace) {}

  SteadyUs now_us() const { return now_us_; }
  std::uint64_t steps() const { return steps_; }

  /// Lets some time pass: a little when somebody is ready, else up to the moment when somebody will be.
  void pass_time();
  /// Lets this much time pass at once, as when a machine sleeps.
  void jump(SteadyUs by_us) { now_us_ += by_us; }
  /// Steps one of those that are ready.
  void step();

  /// Adds a loop. While `*paused` it does not get its turn; null: it never pauses.
  std::unique_ptr<engine::Runner> add(std::string name, const bool* paused, engine::Loop& loop);

 private:
  struct Entry {
    std::string name;
    const bool* paused = nullptr;
    engine::Loop* loop = nullptr;  ///< null once it was stopped
    bool notified = true;          ///< a started loop is stepped once without being asked
    SteadyUs wake_at = 0;
  };
  class Turn;

  bool is_ready(const Entry& entry) const {
    return entry.loop && !(entry.paused && *entry.paused) && (entry.notified || entry.wake_at <= now_us_);
  }

  Random random_;
  Trace& trace_;
  SteadyUs now_us_ = 1'000'000'000;
  std::uint64_t steps_ = 0;
  std::vector<std::shared_ptr<Entry>> entries_;
  std::vector<std::shared_ptr<Entry>> ready_;
};

/// The runtime of one simulated process. All processes share the scheduler, hence the time.
class SimRuntime final : public engine::Runtime {
 public:
  SimRuntime(Scheduler& scheduler, Random random, std::string process, std::function<TimeMs()> wall)
      : scheduler_(scheduler), random_(random), process_(std::move(process)), wall_(std::move(wall)) {}

  SteadyUs steady_us() override { return scheduler_.now_us(); }
  TimeMs wall_ms() override { return wall_(); }
  void random(std::span<std::uint8_t> bytes) override { random_.fill(bytes); }
  void start(std::string name, engine::Loop& loop, std::unique_ptr<engine::Runner>& runner) override {
    runner = scheduler_.add(process_ + '/' + name, &paused, loop);
  }
  bool small_steps() const override { return true; }

  /// A process that is stopped for a while: its loops get no turn, its timers ring late, its leases lapse.
  bool paused = false;

 private:
  Scheduler& scheduler_;
  Random random_;
  std::string process_;
  std::function<TimeMs()> wall_;
};

}  // namespace ff::sim
