#include "store/sqlite/outgoing.h"

#include "core/ids.h"
#include "core/policy.h"

namespace ff::store::sqlite {

void CoreRows::add(const core::ExecutionRecord& record, const RowMeta& meta, std::int64_t queue_id) {
  if (used_ == rows_.size()) rows_.emplace_back();
  Row& row = rows_[used_++];
  row.packed = pack(record, row.buffer);
  const IdBytes id(record.id);
  std::copy(id.view().begin(), id.view().end(), row.id.begin());
  row.meta = meta;
  row.queue_id = queue_id;
}

void CoreRows::column(std::size_t at, int column, sqlite3_context* to) const {
  const Row& row = rows_[at];
  const PackedRow& packed = row.packed;
  // A vector that grew has moved its rows; the buffers are asked again instead of the views into them.
  switch (column) {
    case 0: return give(to, row.meta.seq);
    case 1: return give_blob(to, {row.id.data(), row.id.size()});
    case 2: return give(to, row.queue_id);
    case 3: return give(to, packed.priority);
    case 4: return give(to, packed.created_at_ms);
    case 5: return give_unless_zero(to, packed.candidate);
    case 6: return give_if(to, packed.due_at_ms);
    case 7: return give_if(to, packed.retain_until_ms);
    case 8: return give(to, packed.bucket);
    case 9: return give(to, packed.state);
    case 10: return give(to, packed.total_attempt_count);
    case 11: return give(to, static_cast<std::int64_t>(packed.current_lease_epoch));
    case 12: return row.buffer.lease.empty() ? give_null(to) : give_blob(to, row.buffer.lease);
    case 13: return row.buffer.lease.empty() ? give_null(to) : give_text(to, row.buffer.worker);
    case 14: return packed.claim_key ? give_text(to, *packed.claim_key) : give_null(to);
    case 15: return give_if(to, packed.started_at_ms);
    case 16: return give(to, packed.last_mutation_at_ms);
    case 17: return give(to, static_cast<std::int64_t>(packed.version));
    case 18: return give_unless_zero(to, row.meta.last_event_id);
    default: return give_text_or_null(to, row.buffer.details);
  }
}

void InfoRows::add(std::int64_t seq, const core::ExecutionInfo& info, const core::PayloadPart* payload,
                   const Tags* tags) {
  Row& row = rows_.emplace_back();
  row.seq = seq;
  row.policy = core::stored_policy(*info.policy);
  row.tags = tags ? pack_tags(*tags) : std::string();
  row.origin = pack_origin(info);
  row.content_type = unless_default(info.payload_content_type);
  if (payload) row.payload = payload->payload;
}

void InfoRows::column(std::size_t at, int column, sqlite3_context* to) const {
  const Row& row = rows_[at];
  switch (column) {
    case 0: return give(to, row.seq);
    case 1: return give_text_or_null(to, row.policy);
    case 2: return give_text_or_null(to, row.tags);
    case 3: return give_text_or_null(to, row.origin);
    case 4: return give_text_or_null(to, row.content_type);
    default: return row.payload ? give_blob(to, *row.payload) : give_null(to);
  }
}

void EventRows::add(const EventRow& from, std::int64_t event_id, std::int64_t queue_id, std::int64_t prev_event_id) {
  if (used_ == rows_.size()) rows_.emplace_back();
  Row& row = rows_[used_++];
  const core::EventRecord& event = *from.event;
  const core::EventRecord* lease = lease_of(from);
  row.event_id = event_id;
  row.queue_id = event.queue ? queue_id : 0;
  row.prev_event_id = prev_event_id;
  row.occurred_at_ms = event.occurred_at_ms;
  row.what = pack_what(from);
  row.attempt_index = event.attempt_index ? std::optional<std::int64_t>(*event.attempt_index) : std::nullopt;
  row.about_execution = event.execution_id.has_value();
  const IdBytes id(event.execution_id.value_or(ExecutionId{}));
  std::copy(id.view().begin(), id.view().end(), row.id.begin());
  row.lease.clear();
  row.worker.clear();
  row.lease_epoch.reset();
  row.reason = {};
  if (lease) {
    row.lease_epoch = static_cast<std::int64_t>(lease->lease_epoch);
    row.lease.append(core::raw_bytes(lease->lease_id)).append(core::raw_bytes(lease->attempt_id));
    row.worker.append(lease->worker_id).append(1, '\n').append(lease->worker_instance_id);
    row.reason = lease->reason;
  }
  row.extra = pack_extra(event);
}

void EventRows::column(std::size_t at, int column, sqlite3_context* to) const {
  const Row& row = rows_[at];
  switch (column) {
    case 0: return give(to, row.event_id);
    case 1: return row.about_execution ? give_blob(to, {row.id.data(), row.id.size()}) : give_null(to);
    case 2: return give_unless_zero(to, row.queue_id);
    case 3: return give(to, row.occurred_at_ms);
    case 4: return give(to, row.what);
    case 5: return give_unless_zero(to, row.prev_event_id);
    case 6: return give_if(to, row.attempt_index);
    case 7: return give_if(to, row.lease_epoch);
    case 8: return row.lease.empty() ? give_null(to) : give_blob(to, row.lease);
    case 9: return row.lease.empty() ? give_null(to) : give_text(to, row.worker);
    case 10: return give_text_or_null(to, row.reason);
    default: return give_text_or_null(to, row.extra);
  }
}

}  // namespace ff::store::sqlite
