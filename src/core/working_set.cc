#include "core/working_set.h"

#include "core/state.h"

namespace ff::core {

void Writes::check(const ExecutionRecord& record) {
  if (auto bad = illegality(record); !bad.empty() && broken_.empty())
    broken_ = fmt::format("{}: {}", record.id.to_string(), bad);
}

void Writes::insert(std::shared_ptr<ExecutionRecord> made) {
  ExecutionRecord& record = *made;
  record.version = 1;
  record.times.created_at_ms = record.times.last_transition_at_ms = record.times.last_mutation_at_ms = now_;
  if (auto derived = derive_public_state(record.state)) record.state.public_state = *derived;
  check(record);
  executions.push_back(std::move(made));
}

void Writes::update(const ExecutionRecord& before, std::shared_ptr<ExecutionRecord> changed) {
  ExecutionRecord& after = *changed;
  after.version = before.version + 1;
  after.times.last_mutation_at_ms = now_;
  if (auto derived = derive_public_state(after.state)) after.state.public_state = *derived;
  if (after.state != before.state) after.times.last_transition_at_ms = now_;
  if (after.counters.current_lease_epoch < before.counters.current_lease_epoch && broken_.empty())
    broken_ = fmt::format("{}: current_lease_epoch decreases", after.id.to_string());
  if (after.attempt) {
    if (!before.attempt || before.attempt->attempt_index != after.attempt->attempt_index)
      after.attempt->version = 1;
    else if (*before.attempt != *after.attempt)
      after.attempt->version = before.attempt->version + 1;
  }
  check(after);
  executions.push_back(std::move(changed));
}

void Writes::lane(Lane value) {
  ++value.version;
  lanes.push_back(std::move(value));
}

void WorkingSet::apply(Writes&& writes) {
  changed_ = changed_ || !writes.executions.empty() || !writes.erased.empty() || !writes.lanes.empty() ||
             !writes.keys.empty() || !writes.documents.empty() || !writes.events.empty();
  auto boxed = [](auto&& value) {
    return std::make_shared<std::remove_cvref_t<decltype(value)>>(std::forward<decltype(value)>(value));
  };
  for (auto& [id, value] : writes.infos) infos_.write(id, boxed(std::move(value)));
  for (auto& [id, value] : writes.payloads) payloads_.write(id, boxed(std::move(value)));
  for (auto& [id, value] : writes.results) results_.write(id, value ? boxed(std::move(*value)) : nullptr);
  for (auto& [id, value] : writes.attempts) {
    const AttemptKey key{id, value.attempt_index};
    attempts_.write(key, boxed(std::move(value)));
  }
  for (auto& record : writes.executions) {
    const ExecutionId id = record->id;
    executions_.write(id, std::move(record));
  }
  for (const auto& id : writes.erased) {
    executions_.write(id, nullptr);
    erased_.insert(id);
  }
  for (auto& value : writes.lanes) {
    const std::string id = value.lane_id;
    lanes_.write(id, boxed(std::move(value)));
  }
  for (auto& [id, value] : writes.keys) {
    const IdempotencyRecord* known = keys_.get(id);
    if (value) value->version = (known ? known->version : 0) + 1;
    keys_.write(id, value ? boxed(std::move(*value)) : nullptr);
  }
  for (auto& [id, value] : writes.documents) {
    const Document* known = documents_.get(id);
    if (value) value->version = (known ? known->version : 0) + 1;
    documents_.write(id, value ? boxed(std::move(*value)) : nullptr);
  }
  for (auto& event : writes.events) events_.push_back(std::move(event));
}

}  // namespace ff::core
