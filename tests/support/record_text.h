#pragma once

// Records and events as short texts, so that a test can say what it expects in one line.

#include "core/json.h"
#include "core/records/event.h"

namespace ff::test {

/// The vector in the notation of the specification: phase / ownership / eligibility / reason / outcome / attempt.
inline std::string vector_text(const StateVector& s) {
  using core::name_of;
  return fmt::format("{} / {} / {} / {} / {} / {}", name_of(s.lifecycle_phase), name_of(s.ownership_state),
                     name_of(s.eligibility_state), name_of(s.blocking_reason), name_of(s.terminal_outcome),
                     name_of(s.attempt_state));
}

/// `lease expired lease_expired`, `completion failed`, `operator replayed`.
inline std::string event_text(const core::EventRecord& event) {
  using core::name_of;
  switch (event.kind) {
    case EventKind::completion: return fmt::format("completion {}", name_of(event.outcome));
    case EventKind::lease:
      return fmt::format("lease {}{}{}", name_of(event.lease_event), event.reason.empty() ? "" : " ", event.reason);
    case EventKind::operator_: return fmt::format("operator {}", event.event_type);
    case EventKind::signal: break;
  }
  return "signal";
}

inline std::vector<std::string> event_texts(const auto& events) {
  std::vector<std::string> texts;
  for (const auto& event : events) texts.push_back(event_text(event));
  return texts;
}

/// Every stored field of an execution by name, as JSON. The lease and the attempt are one entry each while absent.
inline std::map<std::string, std::string> fields_of(const core::ExecutionRecord& record) {
  std::map<std::string, std::string> fields;
  auto add = [&](std::string_view prefix, const auto& group) {
    core::for_each_field(group, [&](std::string_view name, const auto& member) {
      fields[fmt::format("{}{}", prefix, name)] = core::json::serialize(core::to_value(member));
    });
  };
  add("", record.state);
  add("", record.counters);
  add("", record.times);
  add("", record.timers);
  add("", record.hold);
  add("", record.progress);
  add("", record.ending);
  add("", record.pending);
  add("", record.limits);
  fields["priority"] = std::to_string(record.priority);
  fields["current_attempt_id"] = core::json::serialize(core::to_value(record.current_attempt_id));
  fields["tags"] = record.tags ? core::json::serialize(core::to_value(*record.tags)) : "null";
  if (record.lease) add("lease.", *record.lease);
  if (record.attempt) add("attempt.", *record.attempt);
  return fields;
}

/// The names of the fields that differ, sorted, separated by spaces. What follows from the others is left out: the
/// public state, the versions, the times of the last transition and the last change.
///
/// A lease that came or went is the one word `lease`, an attempt that took the place of another one `attempt`.
inline std::string changed_fields(const core::ExecutionRecord& before, const core::ExecutionRecord& after) {
  const auto old_fields = fields_of(before), new_fields = fields_of(after);
  const bool lease_swapped = before.lease.has_value() != after.lease.has_value() ||
                             (before.lease && before.lease->current_lease_id != after.lease->current_lease_id);
  const bool attempt_swapped = before.attempt.has_value() != after.attempt.has_value() ||
                               (before.attempt && before.attempt->attempt_index != after.attempt->attempt_index);
  std::set<std::string> names;
  if (lease_swapped) names.insert("lease");
  if (attempt_swapped) names.insert("attempt");
  auto compare = [&](const auto& one, const auto& other) {
    for (const auto& [name, value] : one) {
      if (name == "public_state" || name == "attempt.version") continue;
      if (name == "last_mutation_at_ms" || name == "last_transition_at_ms") continue;
      if ((lease_swapped && name.starts_with("lease.")) || (attempt_swapped && name.starts_with("attempt."))) continue;
      auto it = other.find(name);
      if (it == other.end() || it->second != value) names.insert(name);
    }
  };
  compare(old_fields, new_fields);
  compare(new_fields, old_fields);
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace ff::test
