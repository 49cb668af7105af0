#pragma once

// All that the engine knows of threads, timers, time and chance. In production each loop has a thread; the simulation
// calls the same loops from one thread, with a virtual clock and a seed.

#include <flowfabric/ids.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ff::engine {

/// Microseconds on a clock that never jumps; for waits, not for dates.
using SteadyUs = std::int64_t;
inline constexpr SteadyUs kNever = INT64_MAX;

/// A piece of work that is done in steps.
class Loop {
 public:
  virtual ~Loop() = default;
  /// Does what can be done now. Returns when it wants to be called again without being notified: 0 at once,
  /// `kNever` not at all.
  virtual SteadyUs step() = 0;
};

/// A loop that has been started.
class Runner {
 public:
  virtual ~Runner() = default;
  /// There is something to do: step again soon. Safe from any thread, cheap when the loop is awake.
  virtual void notify() = 0;
  /// Ends the loop after its current step; it is not called again.
  virtual void stop() = 0;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual SteadyUs steady_us() = 0;
  /// Milliseconds since the Unix epoch; for what this process makes up itself. Decisions use the store's clock.
  virtual TimeMs wall_ms() = 0;
  virtual void random(std::span<std::uint8_t> bytes) = 0;
  /// Starts stepping `loop`, which must outlive the runner. `runner` is set before the first step.
  virtual void start(std::string name, Loop& loop, std::unique_ptr<Runner>& runner) = 0;
  /// Whether loops should return after each small stage, so that others can come in between.
  virtual bool small_steps() const { return false; }

  std::uint64_t random_u64();
  /// A number in [0, 1).
  double random_unit();
};

/// Whether this is a thread of some runtime: it cannot wait for the end of that runtime's loops.
bool on_loop_thread();

/// Threads, the machine's clock and its random source.
std::unique_ptr<Runtime> make_thread_runtime();

}  // namespace ff::engine
