#pragma once

#include "sim_options.h"
#include "sim_runtime.h"

#include "engine/engine.h"

namespace ff::sim {

/// A process that runs an engine. It may be stopped for a while, and it may die at any step: what it had not committed
/// is lost, and what it had not answered is never answered.
class Process {
 public:
  Process(int number, store::MemoryStore& origin, std::shared_ptr<ManualClock> clock, Scheduler& scheduler,
          const SimOptions& options, Random random)
      : number_(number),
        origin_(origin),
        clock_(std::move(clock)),
        scheduler_(scheduler),
        options_(options),
        faults_(options.store),
        random_(random) {}
  ~Process();

  /// Opens the engine; an error is a fault of the engine, for nothing hinders it.
  Result<void> boot();
  /// The process is gone, in the middle of whatever it did.
  void crash();
  /// Answers what waits, runs what is queued, and ends.
  void shut_down();

  bool is_up() const { return engine_ != nullptr; }
  engine::Engine& engine() { return *engine_; }
  int number() const { return number_; }
  /// Tells this run of the process from earlier ones.
  std::uint64_t incarnation() const { return incarnation_; }
  bool in_transaction() const { return store_ && store_->in_transaction(); }

  void pause(bool paused) {
    if (runtime_) runtime_->paused = paused;
  }
  bool is_paused() const { return runtime_ && runtime_->paused; }
  void heal() { faults_ = {}; }

  /// It will die, or be stopped, as soon as it is inside the store: between the load and the save of a batch.
  enum class Doom : std::uint8_t { none, crash, pause } doom = Doom::none;

 private:
  int number_;
  store::MemoryStore& origin_;
  std::shared_ptr<ManualClock> clock_;
  Scheduler& scheduler_;
  const SimOptions& options_;
  StoreFaults faults_;
  Random random_;
  std::uint64_t incarnation_ = 0;
  std::unique_ptr<SimRuntime> runtime_;
  SimStore* store_ = nullptr;  ///< owned by the engine
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace ff::sim
