#pragma once

#include "core/access.h"
#include "core/handle.h"
#include "core/ids.h"
#include "core/operation.h"

#include <set>

namespace ff::core {

/// Payload bytes after which a claim takes nothing more; at least one task is always given.
inline constexpr std::uint64_t kClaimPayloadBytesMax = 8 * 1024 * 1024;

/// What a worker can do and may see.
struct WorkerScope {
  std::string worker_id;
  std::string worker_instance_id;
  std::vector<std::string> lanes;
  std::set<std::string, std::less<>> capabilities;
  std::set<std::string, std::less<>> kinds;  ///< empty: all
  std::optional<std::string> namespace_scope;
};

/// Whether the worker may be given members of the queue, its lane aside.
bool can_serve(const WorkerScope& worker, const Queue& queue);
/// The required tokens that the worker lacks, sorted.
std::vector<std::string> missing_capabilities(const WorkerScope& worker, const Queue& queue);

/// A claim: who asks, for how much, and the seed for the ids of the leases it will be given.
struct Claim {
  WorkerScope worker;
  std::uint32_t max = 1;
  std::uint32_t lease_ttl_ms = 30'000;
  std::optional<std::string> claim_key;
  IdSource ids;
};

/// A lease as the decision made it; the engine seals the handle.
struct LeasedTask {
  TaskHandle handle;
  TaskExecution execution;
  AttemptRef attempt;
  SharedBytes payload;
  std::string payload_content_type;
  TimeMs lease_expires_at_ms = 0;
};
using LeasedTasks = std::vector<LeasedTask>;

/// Leases one candidate: fresh, resumed or reclaimed by its state. Nothing when it is no candidate any more or the
/// worker cannot serve it: the caller goes on with the next one.
std::optional<LeasedTask> lease_candidate(const ExecutionRecord& record, const Records& in, const Claim& claim,
                                          IdSource& ids, Writes& writes);

/// Whether the lease that the record holds was issued to this very claim, which is repeated with its key.
bool is_repeated_claim(const ExecutionRecord& held, const Claim& claim);

/// Which kind of claim issued the lease that the record holds now.
HandleKind lease_kind(const ExecutionRecord& record);

/// The same task again for the holder of a live lease (a claim that is repeated with its key).
LeasedTask task_of(const ExecutionRecord& record, const Records& in, HandleKind kind);

/// A claim of one execution by name: that one or nothing.
struct ClaimNamed {
  using Reply = LeasedTasks;
  static constexpr std::string_view kName = "claim_named";

  ExecutionId id;
  Claim claim;
  /// The lane as this process knows it; none: look at the record.
  std::optional<LaneState> known_lane_state;
};

void reads(const ClaimNamed& op, const Records& in, Reads& out);
Decision<LeasedTasks> decide(const ClaimNamed& op, const Records& in, TimeMs now);

}  // namespace ff::core
