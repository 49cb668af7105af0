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
  clear_all(created_, due_, started_, mutated_, versions_, epochs_, queues_, priorities_, states_, attempts_, buckets_,
            candidates_, ids_, leases_, payloads_, workers_, claim_keys_, details_, policies_, tags_, origins_,
            content_types_, strays_);
}

void NewRows::add(const core::ExecutionRecord& record, std::int32_t queue_id, const core::ExecutionInfo& info,
                  const core::PayloadPart* payload) {
  PackBuffer buffer;
  const PackedRow row = pack(record, buffer);
  created_.add(row.created_at_ms);
  due_.add(row.due_at_ms);
  started_.add(row.started_at_ms);
  mutated_.add(row.last_mutation_at_ms);
  versions_.add(row.version);
  epochs_.add(row.current_lease_epoch);
  queues_.add(queue_id);
  priorities_.add(row.priority);
  states_.add(row.state);
  attempts_.add(row.total_attempt_count);
  buckets_.add(row.bucket);
  candidates_.add_true_or_null(row.candidate);
  ids_.add(IdBytes(record.id).view());
  leases_.add_or_null(row.lease);
  workers_.add_or_null(row.worker);
  claim_keys_.add(row.claim_key);
  details_.add_or_null(row.details);
  policies_.add_or_null(core::stored_policy(*info.policy));
  tags_.add_or_null(record.tags ? pack_tags(*record.tags) : std::string());
  origins_.add_or_null(pack_origin(info));
  content_types_.add_or_null(unless_default(info.payload_content_type));
  if (payload)
    payloads_.add(std::string_view(*payload->payload));
  else
    payloads_.null();
  strays_.add_true_or_null(is_stray(record.id, row.created_at_ms));
}

Params NewRows::params() {
  return params_of(created_, due_, started_, mutated_, versions_, epochs_, queues_, priorities_, states_, attempts_,
                   buckets_, candidates_, ids_, leases_, workers_, claim_keys_, details_, policies_, tags_, origins_,
                   content_types_, payloads_, strays_);
}

void LiveRows::clear() {
  clear_all(due_, started_, mutated_, versions_, epochs_, from_versions_, priorities_, states_, attempts_, from_slots_,
            buckets_, candidates_, ids_, leases_, workers_, claim_keys_, details_, tids_);
}

void LiveRows::add(const core::ExecutionRecord& record, const RowMeta& from, std::uint64_t from_version) {
  PackBuffer buffer;
  const PackedRow row = pack(record, buffer);
  ids_.add(IdBytes(record.id).view());
  due_.add(row.due_at_ms);
  started_.add(row.started_at_ms);
  mutated_.add(row.last_mutation_at_ms);
  versions_.add(row.version);
  epochs_.add(row.current_lease_epoch);
  priorities_.add(row.priority);
  states_.add(row.state);
  attempts_.add(row.total_attempt_count);
  buckets_.add(row.bucket);
  candidates_.add_true_or_null(row.candidate);
  leases_.add_or_null(row.lease);
  workers_.add_or_null(row.worker);
  claim_keys_.add(row.claim_key);
  details_.add_or_null(row.details);
  from_slots_.add(from.slot.value_or(kNoSlot));
  from_versions_.add(from_version);
  tids_.add_or_null(from.tid);
}

Params LiveRows::params(bool with_tids) {
  Params params = params_of(ids_, due_, started_, mutated_, versions_, epochs_, priorities_, states_, attempts_, buckets_,
                            candidates_, leases_, workers_, claim_keys_, details_, from_slots_, from_versions_);
  if (with_tids) params.array(tids_);
  return params;
}

void EndedRows::clear() {
  clear_all(retain_, started_, mutated_, versions_, epochs_, from_versions_, priorities_, states_, attempts_, slots_,
            from_slots_, keeps_, ids_, leases_, results_, workers_, details_, content_types_, tids_);
}

void EndedRows::add(const core::ExecutionRecord& record, const RowMeta& from, std::uint64_t from_version,
                    std::int32_t slot, const core::ResultPart* result, bool keeps_result) {
  PackBuffer buffer;
  const PackedRow row = pack(record, buffer);
  ids_.add(IdBytes(record.id).view());
  retain_.add(row.retain_until_ms);
  started_.add(row.started_at_ms);
  mutated_.add(row.last_mutation_at_ms);
  versions_.add(row.version);
  epochs_.add(row.current_lease_epoch);
  priorities_.add(row.priority);
  states_.add(row.state);
  attempts_.add(row.total_attempt_count);
  slots_.add(slot);
  leases_.add_or_null(row.lease);
  workers_.add_or_null(row.worker);
  details_.add_or_null(row.details);
  content_types_.add_or_null(result ? unless_default(result->result_content_type) : std::string_view());
  if (result)
    results_.add(std::string_view(*result->result));
  else
    results_.null();
  from_slots_.add(from.slot.value_or(kNoSlot));
  keeps_.add_true_or_null(keeps_result);
  from_versions_.add(from_version);
  tids_.add_or_null(from.tid);
}

Params EndedRows::params(bool with_tids) {
  Params params = params_of(ids_, retain_, started_, mutated_, versions_, epochs_, priorities_, states_, attempts_, slots_,
                            leases_, workers_, details_, content_types_, results_, from_slots_, keeps_, from_versions_);
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

void EventRows::add(const EventRow& row, std::optional<std::int32_t> queue_id, std::int32_t slot, std::int32_t shard) {
  const core::EventRecord& event = *row.event;
  const core::EventRecord* lease = lease_of(row);
  occurred_.add(event.occurred_at_ms);
  slots_.add(slot);
  shards_.add(shard);
  queues_.add(queue_id);
  what_.add(pack_what(row));
  attempts_.add(event.attempt_index);
  if (event.execution_id)
    ids_.add(IdBytes(*event.execution_id).view());
  else
    ids_.null();
  epochs_.add(lease ? std::optional(lease->lease_epoch) : std::nullopt);
  if (lease) {
    buffer_.assign(core::raw_bytes(lease->lease_id)).append(core::raw_bytes(lease->attempt_id));
    leases_.add(std::string_view(buffer_));
    buffer_.assign(lease->worker_id).append(1, '\n').append(lease->worker_instance_id);
    workers_.add(std::string_view(buffer_));
  } else {
    leases_.null();
    workers_.null();
  }
  reasons_.add_or_null(lease ? std::string_view(lease->reason) : std::string_view());
  extras_.add_or_null(pack_extra(event));
}

Params EventRows::params() {
  return params_of(occurred_, epochs_, slots_, shards_, queues_, what_, attempts_, ids_, leases_, workers_, reasons_,
                   extras_);
}

}  // namespace ff::store::postgres
