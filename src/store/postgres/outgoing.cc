#include "store/postgres/outgoing.h"

#include "core/ids.h"
#include "core/policy.h"

namespace ff::store::postgres {
namespace {

template <class... Arrays>
void clear_all(Arrays&... arrays) {
  (arrays.clear(), ...);
}

template <class... Arrays>
Params params_of(Arrays&... arrays) {
  Params params;
  (params.array(arrays), ...);
  return params;
}

/// Stands for the hot table where a slot is named.
constexpr std::int32_t kNoSlot = -2;

}  // namespace

void RangeArrays::add_range(const QueueRange& range) {
  highs_.add(range.high);
  lows_.add(range.low);
  froms_.add(range.from_ms);
}

void RangeArrays::add_search(const std::vector<QueueRange>& ranges) {
  firsts_.add(highs_.size() + 1);
  for (const auto& range : ranges) add_range(range);
  lasts_.add(highs_.size());
}

Params& RangeArrays::append_to(Params& params) {
  return params.array(firsts_).array(lasts_).array(highs_).array(lows_).array(froms_);
}

void NewRows::clear() {
  clear_all(ids_, payloads_, shape_numbers_, shapes_, created_, due_, started_, mutated_, versions_, epochs_, queues_,
            priorities_, states_, attempts_, buckets_, candidates_, strays_, logs_, leases_, workers_, claim_keys_,
            details_, policies_, tags_, origins_, content_types_);
  last_policy_.reset();
}

const std::string& NewRows::policy_text(const std::shared_ptr<const Policy>& policy) {
  if (policy != last_policy_) {
    last_policy_ = policy;
    last_policy_text_ = core::stored_policy(*policy);
  }
  return last_policy_text_;
}

void NewRows::add(const core::ExecutionRecord& record, std::int32_t queue_id, const core::ExecutionInfo& info,
                  const core::PayloadPart* payload, bool logs) {
  const PackedRow row = pack(record, buffer_);
  const std::string tags = record.tags ? pack_tags(*record.tags) : std::string(), origin = pack_origin(info);
  const NewShape shape{.created_at_ms = row.created_at_ms,
                       .due_at_ms = row.due_at_ms,
                       .started_at_ms = row.started_at_ms,
                       .last_mutation_at_ms = row.last_mutation_at_ms,
                       .version = row.version,
                       .current_lease_epoch = row.current_lease_epoch,
                       .queue_id = queue_id,
                       .priority = row.priority,
                       .state = row.state,
                       .total_attempt_count = row.total_attempt_count,
                       .bucket = row.bucket,
                       .candidate = row.candidate,
                       .stray = is_stray(record.id, row.created_at_ms),
                       .logs = logs,
                       .lease = row.lease,
                       .worker = row.worker,
                       .claim_key = row.claim_key.value_or(""),
                       .details = row.details,
                       .policy = policy_text(info.policy),
                       .tags = tags,
                       .origin = origin,
                       .payload_content_type = unless_default(info.payload_content_type)};
  ids_.add(IdBytes(record.id).view());
  if (payload)
    payloads_.add(std::string_view(*payload->payload));
  else
    payloads_.null();
  const auto place = shapes_.place_of(shape);
  shape_numbers_.add(place.number);
  if (!place.is_new) return;
  created_.add(shape.created_at_ms);
  due_.add(shape.due_at_ms);
  started_.add(shape.started_at_ms);
  mutated_.add(shape.last_mutation_at_ms);
  versions_.add(shape.version);
  epochs_.add(shape.current_lease_epoch);
  queues_.add(shape.queue_id);
  priorities_.add(shape.priority);
  states_.add(shape.state);
  attempts_.add(shape.total_attempt_count);
  buckets_.add(shape.bucket);
  candidates_.add_true_or_null(shape.candidate);
  strays_.add_true_or_null(shape.stray);
  logs_.add_true_or_null(shape.logs);
  leases_.add_or_null(shape.lease);
  workers_.add_or_null(shape.worker);
  claim_keys_.add_or_null(shape.claim_key);
  details_.add_or_null(shape.details);
  policies_.add_or_null(shape.policy);
  tags_.add_or_null(shape.tags);
  origins_.add_or_null(shape.origin);
  content_types_.add_or_null(shape.payload_content_type);
}

Params NewRows::params() {
  return params_of(ids_, payloads_, shape_numbers_, created_, due_, started_, mutated_, versions_, epochs_, queues_,
                   priorities_, states_, attempts_, buckets_, candidates_, strays_, leases_, workers_, claim_keys_,
                   details_, policies_, tags_, origins_, content_types_, logs_);
}

void LiveRows::clear() {
  clear_all(ids_, leases_, tids_, shape_numbers_, shapes_, due_, started_, mutated_, versions_, epochs_, from_versions_,
            priorities_, states_, attempts_, from_slots_, buckets_, logs_, candidates_, workers_, claim_keys_,
            details_);
  locked_ = true;
}

void LiveRows::add(const core::ExecutionRecord& record, const RowMeta& from, std::uint64_t from_version,
                   LogPlaces logs) {
  const PackedRow row = pack(record, buffer_);
  const LiveShape shape{.due_at_ms = row.due_at_ms,
                        .started_at_ms = row.started_at_ms,
                        .last_mutation_at_ms = row.last_mutation_at_ms,
                        .version = row.version,
                        .current_lease_epoch = row.current_lease_epoch,
                        .from_version = from_version,
                        .priority = row.priority,
                        .state = row.state,
                        .total_attempt_count = row.total_attempt_count,
                        .from_slot = from.slot.value_or(kNoSlot),
                        .bucket = row.bucket,
                        .logs = logs,
                        .candidate = row.candidate,
                        .worker = row.worker,
                        .claim_key = row.claim_key.value_or(""),
                        .details = row.details};
  locked_ = locked_ && from.locked;
  ids_.add(IdBytes(record.id).view());
  leases_.add_or_null(row.lease);
  tids_.add_or_null(from.tid);
  const auto place = shapes_.place_of(shape);
  shape_numbers_.add(place.number);
  if (!place.is_new) return;
  due_.add(shape.due_at_ms);
  started_.add(shape.started_at_ms);
  mutated_.add(shape.last_mutation_at_ms);
  versions_.add(shape.version);
  epochs_.add(shape.current_lease_epoch);
  from_versions_.add(shape.from_version);
  priorities_.add(shape.priority);
  states_.add(shape.state);
  attempts_.add(shape.total_attempt_count);
  from_slots_.add(shape.from_slot);
  buckets_.add(shape.bucket);
  logs_.add(static_cast<std::int16_t>(shape.logs));
  candidates_.add_true_or_null(shape.candidate);
  workers_.add_or_null(shape.worker);
  claim_keys_.add_or_null(shape.claim_key);
  details_.add_or_null(shape.details);
}

Params LiveRows::params(bool with_tids) {
  Params params = params_of(ids_, leases_, shape_numbers_, due_, started_, mutated_, versions_, epochs_, from_versions_,
                            priorities_, states_, attempts_, from_slots_, buckets_, logs_, candidates_, workers_,
                            claim_keys_, details_);
  if (with_tids) params.array(tids_);
  return params;
}

void EndedRows::clear() {
  clear_all(ids_, leases_, results_, tids_, shape_numbers_, shapes_, retain_, started_, mutated_, versions_, epochs_,
            from_versions_, priorities_, states_, attempts_, slots_, from_slots_, logs_, keeps_, workers_, details_,
            content_types_);
}

void EndedRows::add(const core::ExecutionRecord& record, const RowMeta& from, std::uint64_t from_version,
                    std::int32_t slot, const core::ResultPart* result, bool keeps_result, LogPlaces logs) {
  const PackedRow row = pack(record, buffer_);
  const EndedShape shape{
      .retain_until_ms = row.retain_until_ms,
      .started_at_ms = row.started_at_ms,
      .last_mutation_at_ms = row.last_mutation_at_ms,
      .version = row.version,
      .current_lease_epoch = row.current_lease_epoch,
      .from_version = from_version,
      .priority = row.priority,
      .state = row.state,
      .total_attempt_count = row.total_attempt_count,
      .slot = slot,
      .from_slot = from.slot.value_or(kNoSlot),
      .logs = logs,
      .keeps_result = keeps_result,
      .worker = row.worker,
      .details = row.details,
      .result_content_type = result ? unless_default(result->result_content_type) : std::string_view()};
  ids_.add(IdBytes(record.id).view());
  leases_.add_or_null(row.lease);
  if (result)
    results_.add(std::string_view(*result->result));
  else
    results_.null();
  tids_.add_or_null(from.tid);
  const auto place = shapes_.place_of(shape);
  shape_numbers_.add(place.number);
  if (!place.is_new) return;
  retain_.add(shape.retain_until_ms);
  started_.add(shape.started_at_ms);
  mutated_.add(shape.last_mutation_at_ms);
  versions_.add(shape.version);
  epochs_.add(shape.current_lease_epoch);
  from_versions_.add(shape.from_version);
  priorities_.add(shape.priority);
  states_.add(shape.state);
  attempts_.add(shape.total_attempt_count);
  slots_.add(shape.slot);
  from_slots_.add(shape.from_slot);
  logs_.add(static_cast<std::int16_t>(shape.logs));
  keeps_.add_true_or_null(shape.keeps_result);
  workers_.add_or_null(shape.worker);
  details_.add_or_null(shape.details);
  content_types_.add_or_null(shape.result_content_type);
}

Params EndedRows::params(bool with_tids) {
  Params params = params_of(ids_, leases_, results_, shape_numbers_, retain_, started_, mutated_, versions_, epochs_,
                            from_versions_, priorities_, states_, attempts_, slots_, from_slots_, logs_, keeps_,
                            workers_, details_, content_types_);
  if (with_tids) params.array(tids_);
  return params;
}

void RecalledRows::clear() { clear_all(ids_, versions_, tids_); }

void RecalledRows::add(const core::ExecutionRecord& record, const RowMeta& row) {
  ids_.add(IdBytes(record.id).view());
  versions_.add(record.version);
  tids_.add(std::string_view(row.tid));
}

Params RecalledRows::params() { return params_of(ids_, versions_, tids_); }

void TextRows::clear() { clear_all(ids_, texts_, slots_); }

void TextRows::add(const ExecutionId& id, std::string_view text, std::int32_t slot) {
  ids_.add(IdBytes(id).view());
  texts_.add_or_null(text);
  slots_.add(slot);
}

Params TextRows::params(bool with_slots) {
  return with_slots ? params_of(ids_, texts_, slots_) : params_of(ids_, texts_);
}

void TagRows::clear() { clear_all(keys_, values_, created_, ids_); }

void TagRows::add(const std::string& key, const std::string& value, TimeMs created_at_ms, const ExecutionId& id) {
  keys_.add(std::string_view(key));
  values_.add(std::string_view(value));
  created_.add(created_at_ms);
  ids_.add(IdBytes(id).view());
}

Params TagRows::params() { return params_of(keys_, values_, created_, ids_); }

void KeyRows::clear() {
  clear_all(keys_, namespaces_, operations_, partitions_, ids_, outcomes_, created_, expires_, versions_);
}

void KeyRows::add(const core::IdempotencyRecord& record) {
  keys_.add(std::string_view(record.id.idempotency_key));
  namespaces_.add(std::string_view(record.id.namespace_));
  operations_.add(std::string_view(record.id.operation));
  partitions_.add(record.partition);
  if (record.execution_id)
    ids_.add(IdBytes(*record.execution_id).view());
  else
    ids_.null();
  outcomes_.add(std::string_view(record.outcome));
  created_.add(record.created_at_ms);
  expires_.add(record.expires_at_ms);
  versions_.add(record.version);
}

Params KeyRows::params() {
  return params_of(keys_, namespaces_, operations_, partitions_, ids_, outcomes_, created_, expires_, versions_);
}

Params KeyRows::names() { return params_of(keys_, namespaces_, operations_); }

void EventRows::add(const EventRow& row, std::int32_t number, std::optional<std::int32_t> queue_id,
                    std::int32_t shard) {
  numbers_.add(number);
  const core::EventRecord& event = *row.event;
  const core::EventRecord* lease = lease_of(row);
  const std::string extra = pack_extra(event);
  if (event.execution_id)
    ids_.add(IdBytes(*event.execution_id).view());
  else
    ids_.null();
  EventShape shape{.occurred_at_ms = event.occurred_at_ms,
                   .lease_epoch = std::nullopt,
                   .queue_id = queue_id,
                   .what = pack_what(row),
                   .attempt_index = event.attempt_index,
                   .worker = {},
                   .reason = {},
                   .extra = extra};
  if (lease) {
    buffer_.assign(core::raw_bytes(lease->lease_id)).append(core::raw_bytes(lease->attempt_id));
    leases_.add(std::string_view(buffer_));
    buffer_.assign(lease->worker_id).append(1, '\n').append(lease->worker_instance_id);
    shape.worker = buffer_;
    shape.lease_epoch = lease->lease_epoch;
    shape.reason = lease->reason;
  } else {
    leases_.null();
  }
  shards_.add(shard);
  earlier_.null();
  add_shape(shape);
}

void EventRows::add_earlier(const ExecutionId& id, std::int32_t number, std::int32_t shard, std::string_view places,
                            TimeMs now) {
  numbers_.add(number);
  ids_.add(IdBytes(id).view());
  leases_.null();
  shards_.add(shard);
  earlier_.add(places);
  has_earlier_ = true;
  EventShape shape{};
  shape.occurred_at_ms = now;
  shape.what = -1;
  add_shape(shape);
}

void EventRows::add_shape(const EventShape& shape) {
  latest_at_ms_ = std::max(latest_at_ms_, shape.occurred_at_ms);
  const auto place = shapes_.place_of(shape);
  shape_numbers_.add(place.number);
  if (!place.is_new) return;
  occurred_.add(shape.occurred_at_ms);
  epochs_.add(shape.lease_epoch);
  queues_.add(shape.queue_id);
  what_.add(shape.what);
  attempts_.add(shape.attempt_index);
  workers_.add_or_null(shape.worker);
  reasons_.add_or_null(shape.reason);
  extras_.add_or_null(shape.extra);
}

Params EventRows::params(bool alone) {
  Params params;
  params.number4(slot_).number(latest_at_ms_).array(ids_).array(leases_).array(shards_).array(shape_numbers_);
  has_earlier_ ? params.array(earlier_) : params.null();
  alone ? params.null() : params.array(numbers_);
  params.array(occurred_).array(epochs_).array(queues_).array(what_).array(attempts_);
  return params.array(workers_).array(reasons_).array(extras_);
}

}  // namespace ff::store::postgres
