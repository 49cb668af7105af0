#pragma once

// Answers as they come over the wire, and what they mean.

#include "api/backend.h"
#include "client/http_answer.h"
#include "core/json.h"

namespace ff::client {

/// A successful answer: of a request, or of one item of a batch.
struct WireAnswer {
  int status = 200;
  const core::json::value* body = nullptr;  ///< null: it has none, or is no JSON
  std::string_view text;                    ///< of the body; empty for an item of a batch
  std::string_view content_type;
};

/// Names the type that is to be read.
template <class Reply>
struct As {};

// The reply in an answer; an error when it is not what this call is answered with.
#define FF_REPLIES(X)                                                                                              \
  X(Changed) X(TaskFailed) X(TaskDelayed) X(Submitted) X(PriorityChanged) X(Revoked) X(Done) X(Lane) X(Execution) \
  X(LeaseRenewed) X(WorkerRegistered) X(WorkerAlive) X(WorkerMarkedDead) X(FabricInfo) X(LaneCounts)              \
  X(std::optional<Blob>) X(Page<ExecutionSummary>) X(Page<Attempt>) X(Page<Event>) X(Page<LeaseItem>)             \
  X(Page<LaneStatus>) X(Page<WorkerInfo>) X(std::vector<ClaimedTask>)
#define FF_READ_REPLY(Reply) Result<Reply> read_reply(const WireAnswer& answer, As<Reply>);
FF_REPLIES(FF_READ_REPLY)
#undef FF_READ_REPLY

/// What a refusal means: the same error as in process. `text` is a problem document; anything else is judged by its
/// status. `server` is the name for sentences.
Error read_problem(int status, std::string_view text, std::uint32_t retry_after_s, const std::string& server);
Error read_problem(int status, const core::json::value& problem);

/// The answer of somebody who is not a FlowFabric server.
Error foreign_answer(int status, std::string_view content_type, const std::string& server);

/// The items of an answer to a batch, if that is what it is, and if there are so many.
const core::json::array* batch_answers(const core::json::value& body, std::size_t count);

}  // namespace ff::client
