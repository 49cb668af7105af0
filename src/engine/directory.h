#pragma once

#include "engine/runtime.h"
#include "store/batch_run.h"

#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

namespace ff::engine {

/// Counts of a refresh are exact below this; a queue with more counts as deep.
inline constexpr std::uint32_t kHeadCountMax = 100;

/// What waits where, in memory: the queues of each lane with their heads, so that a claim plans without a read.
///
/// Problem it solves: a claim must find the best of many queues without looking at work it cannot hand out. The
/// directory is fed by this process's own commits, corrected by every take, and re-read from the store each second, on
/// foreign commits and when in doubt. A stale entry costs an empty take or a second of waiting, never a wrong lease.
/// Thread-safe.
class Directory final : public store::Planner {
 public:
  explicit Directory(Runtime& runtime) : runtime_(runtime) {}

  // ---- planning (called by batches) ----
  std::vector<Row> plan(std::span<core::ClaimOperation* const> claims, bool last) override;
  void took(std::span<const Row> rows, std::span<const store::Taken> taken) override;
  void gave_back(const core::QueueRef& queue, const core::OrderKey& key) override;

  // ---- feeding ----
  /// Queues that gained candidates in a commit, and by how many.
  using Gain = store::Gain;
  std::vector<Gain> committed(const std::deque<store::Unit>& units);

  /// A re-read of one lane: take a ticket, read, then bring the result. What changed here meanwhile stays.
  std::uint64_t ticket();
  std::vector<Gain> refreshed(const std::string& lane_id, std::uint64_t ticket,
                              const std::vector<store::QueueHead>& heads, const std::optional<Lane>& lane);
  /// When the lane was last re-read; far in the past when never.
  SteadyUs refreshed_at(const std::string& lane_id);

  // ---- asking ----
  /// Whether some queue of its lanes is known to have work that the worker can do.
  bool has_work(const core::WorkerScope& worker);
  /// Whether a take of these lanes found less than was known to wait: a batch that runs at the same time may have held
  /// it, and need not keep it. Told once; a re-read shows what is there.
  bool doubts(const std::vector<std::string>& lanes);
  /// Whether all queues of these lanes were read since the start, and the states of the lanes were read or written
  /// within the last second: one may have been closed since.
  bool knows(const std::vector<std::string>& lanes);
  /// Whether the lane is known in that way, and gives its work to workers.
  bool hands_out(const std::string& lane_id);
  /// The state of a lane if it was read or written within the last second.
  std::optional<LaneState> lane_state(const std::string& lane_id);
  /// Lanes that were claimed from within the last minute.
  std::vector<std::string> busy_lanes();
  void claimed_from(const std::vector<std::string>& lanes);

 private:
  static constexpr SteadyUs kNever = INT64_MIN / 2;

  struct QueueState {
    core::QueueRef queue;
    core::OrderKey head;
    std::uint64_t count = 0;
    bool exact = true;          ///< false: at least `count`
    std::uint64_t changed = 0;  ///< when a commit last added to it, in tickets
    std::uint64_t planned = 0;  ///< when a claim last planned with it
  };
  struct LaneEntry {
    std::optional<Lane> lane;
    SteadyUs lane_known_at = kNever;
    SteadyUs refreshed_at = kNever;
    SteadyUs claimed_at = kNever;
    bool doubtful = false;  ///< see doubts()
    std::map<std::string, QueueState> queues;  ///< by namespace and class
    std::set<std::pair<core::OrderKey, std::string>> by_head;
  };
  using Promised = std::map<const QueueState*, std::uint64_t>;

  static std::string name_of(const core::Queue& queue);
  bool open_for_claims(const LaneEntry& entry) const;
  bool is_known(const LaneEntry& entry) const;
  std::uint32_t plan_lane(LaneEntry& entry, std::size_t claim_at, const core::Claim& claim, std::uint32_t want,
                          bool last, Promised& promised, std::vector<Row>& rows);
  /// The queue of that name, made with this head and no members if it was not known.
  static QueueState& queue_of(LaneEntry& entry, const std::string& name, const core::QueueRef& queue,
                              const core::OrderKey& head);
  void set_head(LaneEntry& entry, const std::string& name, QueueState& state, const core::OrderKey& head);
  void drop(LaneEntry& entry, const std::string& name);
  QueueState& add(const core::QueueRef& queue, const core::OrderKey& key);
  void add_candidate(const core::ExecutionRecord& record, std::vector<Gain>& gains);
  void remove_candidate(const core::ExecutionRecord& record);
  void note_lane(const Lane& lane);

  Runtime& runtime_;
  std::mutex mutex_;
  std::uint64_t clock_ = 0;
  std::unordered_map<std::string, LaneEntry> lanes_;
  /// With which of its lanes a worker instance starts its next claim; forgotten when too many.
  std::unordered_map<std::string, std::uint32_t> next_lane_;
};

}  // namespace ff::engine
