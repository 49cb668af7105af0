#pragma once

// What really happened, as it can be read from the stored data: the lives of executions, their leases, their ends.
// The checker writes it after every commit; the judge compares it with what callers were told.

#include "store/memory/memory_data.h"

#include <flowfabric/execution.h>

namespace ff::sim {

/// One lease, from the event that issued it to the event that ended it.
struct LeaseLife {
  std::uint64_t epoch = 0;
  Uuid lease_id;
  Uuid attempt_id;
  std::uint32_t attempt_index = 0;
  std::string worker_id;  ///< names the call that claimed it
  std::string worker_instance_id;
  HandleKind kind = HandleKind::fresh;
  std::uint64_t issued_step = 0;

  struct End {
    LeaseEventType type = LeaseEventType::released;
    std::string reason;
    std::uint64_t step = 0;
  };
  std::optional<End> end;
};

/// A terminal transition, and the replay that undid it.
struct EndLife {
  TerminalOutcome outcome = TerminalOutcome::none;
  std::uint64_t step = 0;
  std::optional<std::uint64_t> replayed_step;
};

/// A committed state that a reader may have seen, until the next one.
struct Moment {
  std::uint64_t step = 0;
  std::uint64_t version = 0;
  PublicState state = PublicState::waiting;
  std::uint64_t epoch = 0;
};

/// One execution from its creation to its removal. An id of a caller's own may have several lives, one after another.
struct Life {
  ExecutionId id;
  std::uint64_t creator = 0;  ///< the call that created it
  std::uint64_t born_step = 0;
  std::int64_t first_event_id = 0;  ///< earlier events under this id are of an earlier life
  std::optional<std::uint64_t> gone_step;
  bool deleted = false;  ///< by a caller, not by its retention
  std::vector<LeaseLife> leases;  ///< the epoch is the place, from 1
  std::vector<EndLife> ends;
  std::vector<Moment> moments;
  std::map<std::uint32_t, Attempt> past_attempts;
  store::MemoryData::Row row;  ///< as last seen

  bool ended() const { return !ends.empty() && !ends.back().replayed_step; }
  bool has_open_lease() const { return !leases.empty() && !leases.back().end; }
  /// Whether it was not terminal at some time since `step`.
  bool was_open_since(std::uint64_t step) const;
  /// Whether it was terminal at some time since `step`, with an outcome that `fits`.
  template <class Fits>
  bool was_ended_since(std::uint64_t step, Fits fits) const {
    for (const auto& end : ends)
      if ((!end.replayed_step || *end.replayed_step >= step) && fits(end.outcome)) return true;
    return false;
  }
  /// Whether a reader that looked at some time since `step` may have seen this.
  bool showed_since(std::uint64_t step, std::uint64_t version, PublicState state, std::uint64_t epoch) const;
};

class History {
 public:
  Life& born(const ExecutionId& id, std::uint64_t creator, std::uint64_t step);
  /// The life that lasts; null when there is none.
  Life* current(const ExecutionId& id);
  /// The life that the call created; null when it created none.
  const Life* created_by(std::uint64_t call) const;
  /// Every life of that id, oldest first.
  const std::vector<std::unique_ptr<Life>>& lives_of(const ExecutionId& id) const;
  /// The lease of that handle, in whatever life.
  std::pair<Life*, LeaseLife*> lease(const ExecutionId& id, const Uuid& attempt_id, std::uint64_t epoch);
  /// Whether there was no such execution at some time since `step`.
  bool was_absent_since(const ExecutionId& id, std::uint64_t step);

  /// Leases by the worker id under which they were claimed: a life and an epoch.
  std::map<std::string, std::vector<std::pair<Life*, std::uint64_t>>> leases_of_worker;
  /// Ids that came and went within one commit, with the newest such step: events without a record that anybody could
  /// see.
  std::map<ExecutionId, std::uint64_t> ghosts;
  bool was_ghost_since(const ExecutionId& id, std::uint64_t step) const {
    auto it = ghosts.find(id);
    return it != ghosts.end() && it->second >= step;
  }

  struct LaneMoment {
    std::uint64_t step = 0;
    std::int64_t at_us = 0;
    LaneState state = LaneState::active;
  };
  std::map<std::string, std::vector<LaneMoment>> lanes;
  /// When a process last woke up from a stop: what it does next may rest on what it knew before.
  std::int64_t disturbed_at_us = 0;

 private:
  std::map<ExecutionId, std::vector<std::unique_ptr<Life>>> lives_;
  std::map<std::uint64_t, Life*> by_creator_;
};

}  // namespace ff::sim
