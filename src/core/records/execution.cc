#include "core/records/execution.h"

namespace ff::core {
namespace {

template <class T>
bool same_target(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace

bool same_record(const ExecutionRecord& a, const ExecutionRecord& b) {
  return a.id == b.id && same_target(a.queue, b.queue) && a.priority == b.priority && a.state == b.state &&
         a.counters == b.counters && a.times == b.times && a.timers == b.timers && a.hold == b.hold &&
         a.progress == b.progress && a.ending == b.ending && a.pending == b.pending && a.limits == b.limits &&
         a.current_attempt_id == b.current_attempt_id && a.lease == b.lease && a.attempt == b.attempt &&
         same_target(a.tags, b.tags) && a.version == b.version;
}

bool same_info(const ExecutionInfo& a, const ExecutionInfo& b) {
  return same_target(a.policy, b.policy) && a.creator_identity == b.creator_identity &&
         a.idempotency_key == b.idempotency_key && a.traceparent == b.traceparent &&
         a.payload_content_type == b.payload_content_type && a.payload_bytes == b.payload_bytes;
}

}  // namespace ff::core
