#include "cli/execution_view.h"

#include "cli/format.h"
#include "cli/table.h"
#include "core/json.h"

namespace ff::cli {
namespace {

std::string moment_if(const std::optional<TimeMs>& at, TimeMs now) { return at ? moment_text(*at, now) : std::string(); }
std::string text_if(const std::optional<std::string>& text) { return text ? printable(*text) : std::string(); }

template <class E>
std::string word(E value) {
  return std::string(core::name_of(value));
}

std::string blob_text(const std::optional<std::uint64_t>& bytes, const std::string& content_type) {
  return bytes ? fmt::format("{}, {}", bytes_text(*bytes), content_type) : "none";
}

/// JSON for people: no quotes around names, numbers as one would write them, nothing for what is empty.
std::string readable(const core::json::value& value) {
  if (const auto* object = value.if_object()) {
    std::string text;
    for (const auto& [name, item] : *object) {
      const std::string shown = readable(item);
      if (shown.empty()) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", std::string_view(name),
                          item.is_object() ? "(" + shown + ")" : shown);
    }
    return text;
  }
  if (const auto* array = value.if_array()) {
    std::string text;
    for (const auto& item : *array) text += (text.empty() ? "" : " ") + readable(item);
    return text;
  }
  if (const auto* number = value.if_double()) return fmt::format("{}", *number);
  if (const auto* text = value.if_string()) return printable(std::string_view(*text));
  return core::json::serialize(value);
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

void show_state(Output& output, const Execution& e, TimeMs now) {
  Facts facts("State");
  facts.add("phase", word(e.state.lifecycle_phase));
  facts.add("ownership", word(e.state.ownership_state));
  facts.add("eligibility", word(e.state.eligibility_state));
  facts.add("blocking reason", word(e.state.blocking_reason));
  facts.add("blocking detail", text_if(e.hold.blocking_detail));
  facts.add("outcome", word(e.state.terminal_outcome));
  facts.add("attempt state", word(e.state.attempt_state));
  if (e.hold.interrupt_kind != InterruptKind::none) facts.add("interrupted by", word(e.hold.interrupt_kind));
  if (e.hold.cancel_owed != CancelOwed::none) facts.add("cancel owed", word(e.hold.cancel_owed));
  facts.add("delayed until", moment_if(e.timers.delay_until_ms, now));
  facts.add("attempt times out", moment_if(e.timers.attempt_timeout_at_ms, now));
  facts.add("deadline", moment_if(e.timers.execution_deadline_at_ms, now));
  facts.add("lease lost", moment_if(e.hold.lease_expired_at_ms, now));
  facts.add("lease revoked", moment_if(e.hold.lease_revoked_at_ms, now));
  facts.print(output);
}

void show_progress(Output& output, const Execution& e, TimeMs now) {
  Facts facts("Progress");
  if (e.progress.progress_pct) facts.add("percent", std::to_string(*e.progress.progress_pct));
  facts.add("message", text_if(e.progress.progress_message));
  facts.add("reported", moment_if(e.progress.progress_updated_at_ms, now));
  facts.print(output);
}

void show_ending(Output& output, const Execution& e) {
  Facts facts("Trouble");
  facts.add("failure", text_if(e.ending.failure_reason), Colour::red);
  facts.add("category", text_if(e.ending.failure_category));
  facts.add("last failure", text_if(e.ending.last_failure_message));
  facts.add("cancelled", text_if(e.ending.cancellation_reason), Colour::yellow);
  if (e.ending.cancelled_by) facts.add("cancelled by", word(*e.ending.cancelled_by));
  facts.print(output);
}

void show_attempt_and_lease(Output& output, const Execution& e, TimeMs now) {
  if (e.current_attempt) {
    Facts facts("Attempt");
    facts.add("index", std::to_string(e.current_attempt->attempt_index));
    facts.add("type", word(e.current_attempt->attempt_type));
    facts.add("id", e.current_attempt->attempt_id.to_string());
    facts.print(output);
  }
  if (e.lease) {
    Facts facts("Lease");
    facts.add("worker", fmt::format("{} ({})", e.lease->worker_instance_id, e.lease->worker_id));
    facts.add("acquired", moment_text(e.lease->acquired_at_ms, now));
    facts.add("renewed", moment_text(e.lease->last_renewed_at_ms, now));
    facts.add("expires", moment_text(e.lease->expires_at_ms, now));
    facts.add("id", e.lease->lease_id.to_string());
    facts.add("epoch", std::to_string(e.lease->lease_epoch));
    facts.print(output);
  }
}

void show_counters(Output& output, const Execution& e) {
  Facts facts("Counters");
  facts.add("attempts", std::to_string(e.counters.total_attempt_count));
  facts.add("claims", std::to_string(e.counters.claim_count));
  facts.add("retries", std::to_string(e.counters.retry_count));
  facts.add("lost leases", std::to_string(e.counters.lease_reclaim_count));
  facts.add("replays", std::to_string(e.counters.replay_count));
  facts.add("lease epoch", std::to_string(e.counters.current_lease_epoch));
  facts.add("version", std::to_string(e.version));
  facts.print(output);
}

}  // namespace

void show_execution(Output& output, const Execution& e, TimeMs now) {
  output.line(fmt::format("{}  {}", output.paint(e.execution_id.to_string(), Colour::bold),
                          output.paint(word(e.state.public_state), colour_of(e.state.public_state))));
  output.line(printable(e.why.text));
  Facts facts("Execution");
  facts.add("kind", printable(e.execution_kind));
  facts.add("lane", e.lane_id);
  facts.add("namespace", e.namespace_);
  facts.add("priority", std::to_string(e.priority));
  facts.add("needs", joined(e.required_capabilities));
  facts.add("payload", blob_text(e.payload_bytes, e.payload_content_type));
  facts.add("result", blob_text(e.result_bytes, e.result_content_type.value_or("")));
  facts.add("tags", tags_text(e.tags));
  facts.add("creator", text_if(e.creator_identity));
  facts.add("key", text_if(e.idempotency_key));
  facts.add("trace", text_if(e.traceparent));
  facts.print(output);
  show_state(output, e, now);
  show_progress(output, e, now);
  show_ending(output, e);
  show_attempt_and_lease(output, e, now);
  Facts times("Times");
  times.add("created", moment_text(e.times.created_at_ms, now));
  times.add("started", moment_if(e.times.started_at_ms, now));
  times.add("ended", moment_if(e.times.completed_at_ms, now));
  times.add("kept until", moment_if(e.times.retain_until_ms, now));
  times.add("last change", moment_text(e.times.last_mutation_at_ms, now));
  times.print(output);
  show_counters(output, e);
  Facts policy("Policy");
  const core::json::value members = core::to_value(e.policy);
  for (const auto& [name, value] : members.as_object()) policy.add(std::string(name), readable(value));
  policy.print(output);
}

void show_summaries(Output& output, const std::vector<ExecutionSummary>& items, TimeMs now, bool titles) {
  Table table({{"ID"}, {"KIND"}, {"STATE"}, {"LANE"}, {"NAMESPACE"}, {"PRIORITY", Table::Align::right},
               {"ATTEMPTS", Table::Align::right}, {"CREATED"}, {"TOOK"}, {"TAGS"}});
  for (const auto& item : items) {
    std::string took;
    if (item.started_at_ms) took = duration_text(item.completed_at_ms.value_or(now) - *item.started_at_ms);
    table.add({item.execution_id.to_string(),
               printable(item.execution_kind, 32),
               {word(item.public_state), colour_of(item.public_state)},
               item.lane_id,
               item.namespace_,
               std::to_string(item.priority),
               std::to_string(item.total_attempt_count),
               relative_text(item.created_at_ms, now),
               took,
               printable(tags_text(item.tags), 60)});
  }
  table.print(output, titles);
}

void show_attempts(Output& output, const std::vector<Attempt>& attempts, TimeMs now) {
  Table table({{"INDEX", Table::Align::right}, {"TYPE"}, {"STATE"}, {"OUTCOME"}, {"WORKER"}, {"STARTED"}, {"TOOK"},
               {"EPOCH", Table::Align::right}, {"REASON"}});
  for (const auto& attempt : attempts) {
    const TimeMs end = attempt.ended_at_ms.value_or(now);
    table.add({std::to_string(attempt.attempt_index),
               word(attempt.attempt_type),
               word(attempt.attempt_state),
               attempt.outcome ? word(*attempt.outcome) : "",
               attempt.worker_instance_id,
               relative_text(attempt.started_at_ms, now),
               duration_text(end - attempt.started_at_ms),
               std::to_string(attempt.lease_epoch),
               attempt.failure_reason ? printable(*attempt.failure_reason, 80) : ""});
  }
  table.print(output);
}

namespace {

struct EventWords {
  explicit EventWords(const Event& event)
      : what(event.outcome ? word(*event.outcome) : event.event_type),
        who(printable(event.cancelled_by ? word(*event.cancelled_by)
                                         : event.worker_instance_id.value_or(event.actor.value_or("")),
                      60)),
        why(printable(event.reason.value_or(event.details.value_or("")), 80)) {}
  std::string what, who, why;
};

}  // namespace

void show_events(Output& output, const std::vector<Event>& events) {
  Table table({{"TIME"}, {"KIND"}, {"EVENT"}, {"ATTEMPT", Table::Align::right}, {"WHO"}, {"REASON"}});
  for (const auto& event : events) {
    const EventWords words(event);
    table.add({time_text(event.occurred_at_ms), word(event.kind), words.what,
               event.attempt_index ? std::to_string(*event.attempt_index) : "", words.who, words.why});
  }
  table.print(output);
}

std::string event_line(const Event& event) {
  const EventWords words(event);
  std::string line = fmt::format("{}  {:<10}  {:<18}", time_text(event.occurred_at_ms), word(event.kind), words.what);
  if (event.attempt_index) line += fmt::format("  attempt {}", *event.attempt_index);
  if (!words.who.empty()) line += fmt::format("  by {}", words.who);
  if (!words.why.empty()) line += fmt::format("  ({})", words.why);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace ff::cli
