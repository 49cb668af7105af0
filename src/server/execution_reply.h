#pragma once

// The answer of every call that reads or changes one execution: the execution as it stands, with its payload and result
// as far as they are small.

#include "server/route.h"

namespace ff::server {

/// Reads the execution and answers with it, as `status`; `replay` says that nothing had to change.
void answer_with_execution(const Ctx& context, const ExecutionId& id, int status, bool replay, Answer answer);
/// The same for one that has been read.
void answer_with_execution(const Ctx& context, Execution execution, int status, bool replay, Answer answer);

/// Answers a call that changed an execution: with the execution, or with the bare outcome for a caller that prefers it.
template <class T>
void answer_changed(const Ctx& context, const ExecutionId& id, const T& outcome, int status, bool replay, Answer answer) {
  if (!context->minimal) return answer_with_execution(context, id, status, replay, std::move(answer));
  Reply reply = reply_of(outcome, status);
  reply.replay = replay;
  answer(std::move(reply));
}

core::json::value execution_schema(Schemas& schemas);

/// The address of an execution below `/v1`.
std::string execution_path(const ExecutionId& id);

}  // namespace ff::server
