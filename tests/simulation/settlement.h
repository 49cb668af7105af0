#pragma once

#include "world.h"

namespace ff::sim {

/// The end of a run: no faults any more, good workers, and time. Nothing may be left that nobody can explain.
class Settlement {
 public:
  explicit Settlement(World& world) : world_(world), healed_at_(world.now_us()) {}
  void run();

 private:
  void set_lanes(LaneState first, LaneState others);
  template <class Done>
  bool live_until(SteadyUs at_most_us, Done done);
  bool all_ended(const std::set<std::string>& held_lanes) const;
  bool calls_answered() const;
  bool old_calls_answered() const;
  void check_patience();
  void check_held(const std::set<std::string>& held_lanes);
  void check_reads();
  void check_counts();
  void shut_down();
  std::string unfinished() const;
  template <class Reply, class Request>
  std::optional<Result<Reply>> ask(Request request);

  World& world_;
  SteadyUs healed_at_;
  /// Since when each candidate stands in its queue, by the version that put it there.
  std::map<ExecutionId, std::pair<std::uint64_t, SteadyUs>> waiting_since_;
};

}  // namespace ff::sim
