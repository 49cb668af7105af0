#pragma once

// One simulated world: a data set, the processes that share it, the people around them, and whoever looks closely.

#include "checker.h"
#include "judge.h"
#include "process.h"

namespace ff::sim {

class Client;
class Worker;
class Saboteur;

/// A call that somebody has made and not yet forgotten.
struct OpenCall {
  std::uint64_t call = 0;
  Process* process = nullptr;
  std::uint64_t incarnation = 0;
  SteadyUs made_at = 0;
  SteadyUs answer_by = 0;  ///< if nothing goes wrong from now on
  enum class State : std::uint8_t { pending, heard, lost } state = State::pending;
};
using CallRef = std::shared_ptr<OpenCall>;

class World {
 public:
  World(const SimOptions& options, Trace& trace);
  ~World();

  /// Lives through the run: first with faults, then in peace until everything has come to its end.
  /// The first thing that was wrong, or nothing.
  std::optional<std::string> run();

  // ---- for those who act in it ----
  const SimOptions& options() const { return options_; }
  bool at_peace() const { return at_peace_; }
  bool is_closing() const { return is_closing_; }
  SteadyUs now_us() const { return scheduler_.now_us(); }
  TimeMs now_ms() const { return clock_->now_ms(); }
  Random& random() { return random_; }
  Book& book() { return book_; }
  Judge& judge() { return judge_; }
  Trace& trace() { return trace_; }
  Verdict& verdict() { return verdict_; }
  store::MemoryData& data() { return origin_.data(); }
  Intent& intend(Act act) { return book_.open(act, scheduler_.steps()); }
  std::vector<std::unique_ptr<Process>>& processes() { return processes_; }
  /// A process that takes calls, paused or not; null when all are down.
  Process* any_process();
  engine::Call how_to_call();
  /// Some execution that exists, existed, or may be created: a good target for anything.
  std::optional<ExecutionId> any_execution();

  /// Registers a call. The callback must be given to the engine of `process`: it is held to be called exactly once,
  /// the answer is judged, and unless the network loses it, `react` gets it.
  CallRef make_call(Process& process, const Intent& intent, std::uint32_t wait_ms = 0);
  template <class T, class Judged, class React>
  engine::Callback<T> answer(CallRef call, Judged judged, React react);

  // ---- for the saboteur ----
  void crash(Process& process);
  void restart(Process& process);
  void move_clock(TimeMs by_ms);
  void jump(SteadyUs by_us) {
    scheduler_.jump(by_us);
    disturbed();
  }
  /// Somebody may act on old knowledge for a moment.
  void disturbed() { history_.disturbed_at_us = scheduler_.now_us(); }
  void heal();

  std::vector<ExecutionId> own_ids;  ///< ids that callers choose themselves, few, so that they meet

 private:
  friend class Settlement;
  void one_step();
  void follow_time();
  void look();
  void answered(OpenCall& call, const Error* error);
  void dropped(OpenCall& call);

  SimOptions options_;
  Trace& trace_;
  Verdict verdict_;
  Random random_;
  Scheduler scheduler_;
  std::shared_ptr<ManualClock> clock_;
  TimeMs clock_offset_ms_ = 0;
  TimeMs clock_latest_ms_ = 0;
  store::MemoryStore origin_;
  History history_;
  Book book_;
  Checker checker_;
  Judge judge_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<std::uint64_t, CallRef> open_calls_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Saboteur> saboteur_;
  bool at_peace_ = false;
  bool is_closing_ = false;
};

// ---- details ------------------------------------------------------------------------------------------------------

template <class T, class Judged, class React>
engine::Callback<T> World::answer(CallRef call, Judged judged, React react) {
  /// Notices a callback that is thrown away.
  struct Guard {
    World* world;
    CallRef call;
    bool used = false;
    Guard(World* w, CallRef c) : world(w), call(std::move(c)) {}
    Guard(Guard&& other) noexcept : world(other.world), call(std::move(other.call)), used(other.used) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard() {
      if (call && !used) world->dropped(*call);
    }
  };
  return [this, guard = Guard(this, std::move(call)), judged = std::move(judged),
          react = std::move(react)](Result<T> result) mutable {
    OpenCall& made = *guard.call;
    if (made.process->incarnation() != made.incarnation) {
      guard.used = true;
      return;
    }
    if (std::exchange(guard.used, true)) return verdict_.fail("call #{} was answered twice", made.call);
    look();  // an answer on the thread that committed comes before the end of the step
    judged(result);
    answered(made, result ? nullptr : &result.error());
    if (made.state == OpenCall::State::heard) react(std::move(result));
  };
}

}  // namespace ff::sim
