// The event log read as the history of leases and ends, and compared with the records.

#include "checker.h"

#include "core/json.h"

namespace ff::sim {
namespace {

/// Lanes may be cached for a second; a batch that was planned then may take a moment to commit.
constexpr std::int64_t kLaneNewsUs = 3'000'000;

}  // namespace

using core::EventRecord;

void Checker::read_events() {
  const auto& events = data_.events;
  auto first = events.size();
  while (first > 0 && events[first - 1].event_id > last_event_id_) --first;
  std::map<ExecutionId, std::vector<const EventRecord*>> by_execution;
  for (auto i = first; i < events.size(); ++i) {
    const auto& [event_id, event] = events[i];
    if (event_id <= last_event_id_) verdict_.fail("event ids do not rise: {} after {}", event_id, last_event_id_);
    last_event_id_ = event_id;
    if (event.execution_id) by_execution[*event.execution_id].push_back(&event);
    if (event.event_type == "lane_configured") lane_configured(event);
  }
  if (data_.last_event_id < last_event_id_) verdict_.fail("the counter of event ids fell");
  for (const auto& [id, its_events] : by_execution) read_events_of(id, its_events);
}

/// Gives the events of a commit to the life of their execution. An id of a caller's own may be created and removed
/// within one commit: a life that nobody could see is a ghost.
void Checker::read_events_of(const ExecutionId& id, const std::vector<const EventRecord*>& events) {
  if (auto touched = touched_.find(id); touched != touched_.end()) {
    for (const auto* event : events) apply(*touched->second.life, *event);
    return;
  }
  if (alive_.contains(id)) return fail(id, "an event was written, but nothing has changed");
  history_.ghosts[id] = step_;
  trace_.saw("an id that came and went in one commit");
}

/// Lanes may change more than once in a commit; what lies between can be read only here.
void Checker::lane_configured(const EventRecord& event) {
  const auto details = boost::json::parse(event.details).as_object();
  auto state = core::enum_from<LaneState>(std::string_view(details.at("new").at("lane_state").as_string()));
  if (!state) return verdict_.fail("a lane got an unknown state: {}", event.details);
  history_.lanes[std::string(details.at("lane_id").as_string())].push_back({step_, now_us_, *state});
}

void Checker::apply(Life& life, const EventRecord& event) {
  switch (event.kind) {
    case EventKind::completion:
      trace_.note("        ! {} ended {}", life.id.to_string(), core::name_of(event.outcome));
      trace_.saw("ended {}", core::name_of(event.outcome));
      if (life.ended()) fail(life.id, "a second completion event for one end");
      life.ends.push_back({event.outcome, step_, std::nullopt});
      break;
    case EventKind::lease: apply_lease(life, event); break;
    case EventKind::operator_: apply_operator(life, event); break;
    case EventKind::signal: fail(life.id, "a signal event, but nobody sends signals"); break;
  }
}

void Checker::apply_lease(Life& life, const EventRecord& event) {
  trace_.note("        ! {} lease {} {} {}", life.id.to_string(), event.lease_epoch, core::name_of(event.lease_event),
              event.reason);
  trace_.saw("lease {} {}", core::name_of(event.lease_event), Book::call_in(event.reason) ? "" : event.reason);
  if (event.lease_event == LeaseEventType::acquired || event.lease_event == LeaseEventType::reclaimed)
    return lease_issued(life, event);
  const bool of_newest = !life.leases.empty() && life.leases.back().epoch == event.lease_epoch &&
                         life.leases.back().lease_id == event.lease_id;
  if (!of_newest)
    return fail(life.id, "lease event {} for epoch {}, which is not the newest lease", core::name_of(event.lease_event),
                event.lease_epoch);
  LeaseLife& lease = life.leases.back();
  if (lease.end)
    return fail(life.id, "lease event {} after the end of epoch {}", core::name_of(event.lease_event), lease.epoch);
  if (event.lease_event == LeaseEventType::renewed) {
    if (!options_.renewal_events) fail(life.id, "a renewal wrote an event");
    return;
  }
  lease.end = LeaseLife::End{event.lease_event, event.reason, step_};

  // A lease ends by itself only when its time is over. Within one commit it may have been renewed before: then it ran
  // even longer than the record shows.
  const core::ExecutionRecord& before = life.row.record;
  const bool by_itself = event.reason == "lease_expired" || event.reason == "max_reclaims_exceeded";
  if (event.lease_event == LeaseEventType::expired && by_itself && before.lease &&
      before.counters.current_lease_epoch == event.lease_epoch &&
      event.occurred_at_ms < before.lease->lease_expires_at_ms)
    fail(life.id, "lease {} was lost at {}, but it was good until {}", event.lease_epoch, event.occurred_at_ms,
         before.lease->lease_expires_at_ms);
}

void Checker::lease_issued(Life& life, const EventRecord& event) {
  if (life.has_open_lease())
    fail(life.id, "a second live lease: epoch {} beside {}", event.lease_epoch, life.leases.back().epoch);
  if (life.ended()) fail(life.id, "leased after it had ended");
  if (event.lease_epoch != life.leases.size() + 1)
    fail(life.id, "epoch {} was issued after epoch {}", event.lease_epoch, life.leases.size());
  for (const auto& old : life.leases)
    if (old.lease_id == event.lease_id) fail(life.id, "a lease id was used twice");
  const bool after_loss = !life.leases.empty() && (life.leases.back().end->type == LeaseEventType::expired ||
                                                   life.leases.back().end->type == LeaseEventType::revoked);
  if (event.lease_event == LeaseEventType::reclaimed && !after_loss) fail(life.id, "reclaimed, but nothing was lost");

  LeaseLife lease;
  lease.epoch = event.lease_epoch;
  lease.lease_id = event.lease_id;
  lease.attempt_id = event.attempt_id;
  lease.attempt_index = event.attempt_index.value_or(~0U);
  lease.worker_id = event.worker_id;
  lease.worker_instance_id = event.worker_instance_id;
  lease.kind = event.lease_event == LeaseEventType::reclaimed ? HandleKind::reclaimed
               : event.reason == "claim_resumed"              ? HandleKind::resumed
                                                              : HandleKind::fresh;
  lease.issued_step = step_;
  history_.leases_of_worker[event.worker_id].emplace_back(&life, event.lease_epoch);
  life.leases.push_back(std::move(lease));

  const auto call = Book::call_in(event.worker_id);
  Intent* intent = call ? book_.find(*call) : nullptr;
  if (!intent || !intent->claim) return fail(life.id, "leased to '{}', who has asked for nothing", event.worker_id);
  if (intent->outcome == Intent::Outcome::refused || intent->outcome == Intent::Outcome::done)
    fail(life.id, "leased for call {}, which had its answer already", *call);
  check_lane_is_open(life);
  if (!intent->claim->execution_id) check_was_first(life);
}

/// A lane that was closed gives no work, once everybody had time to hear of it.
void Checker::check_lane_is_open(const Life& life) {
  if (!life.row.record.queue || options_.store.reader > 0) return;
  const auto& moments = history_.lanes[life.row.record.lane_id()];
  const auto& last = moments.back();
  const bool closed = last.state == LaneState::paused || last.state == LaneState::disabled;
  if (closed && now_us_ - last.at_us > kLaneNewsUs && now_us_ - history_.disturbed_at_us > kLaneNewsUs)
    fail(life.id, "leased from lane '{}', which is closed since {} ms", life.row.record.lane_id(),
         (now_us_ - last.at_us) / 1000);
}

/// Where one transaction runs at a time nothing is passed over: who is leased was the first of its queue.
void Checker::check_was_first(const Life& life) {
  if (options_.character != store::MemoryCharacter::serial || !life.row.record.queue) return;
  const auto before = queues_.find(store::MemoryData::name_of(*life.row.record.queue));
  const auto after = data_.queues.find(store::MemoryData::name_of(*life.row.record.queue));
  if (before == queues_.end() || after == data_.queues.end()) return;
  for (const auto& key : before->second) {
    if (key.id == life.id) return;
    if (after->second.contains(key)) fail(life.id, "leased before {}, which stands ahead of it", key.id.to_string());
  }
}

void Checker::apply_operator(Life& life, const EventRecord& event) {
  trace_.saw("operator {}", event.event_type);
  if (event.event_type == "replayed") {
    if (!life.ended()) return fail(life.id, "replayed, but it had not ended");
    life.ends.back().replayed_step = step_;
  } else if (event.event_type == "execution_deleted") {
    life.deleted = true;
  } else if (event.event_type == "execution_cancelled") {
    effect(event.details, {Act::cancel}, life, std::nullopt);
  } else if (event.event_type == "execution_completed") {
    effect(event.details, {Act::operator_complete}, life, std::nullopt);
  } else if (event.event_type == "execution_failed") {
    effect(event.details, {Act::operator_fail}, life, std::nullopt);
  } else if (event.event_type == "lease_revoked") {
    effect(event.details, {Act::revoke}, life, std::nullopt);
  } else if (event.event_type == "tags_changed") {
    effect(event.details, {Act::set_tags}, life, std::nullopt);
  }
}

/// The record says the same as the log: terminal after a completion, leased after an issue, one epoch per issue.
void Checker::check_against_events(const Life& life, const core::ExecutionRecord& record) {
  if (life.ended() != record.is_terminal())
    fail(life.id, "{} by its record, {} by its events", record.is_terminal() ? "terminal" : "open",
         life.ended() ? "terminal" : "open");
  if (life.ended() && life.ends.back().outcome != record.state.terminal_outcome)
    fail(life.id, "its completion event tells another outcome");
  if (life.leases.size() != record.counters.current_lease_epoch)
    fail(life.id, "epoch {} after {} leases", record.counters.current_lease_epoch, life.leases.size());
  if (life.has_open_lease() != record.is_leased())
    fail(life.id, "{} by its record, {} by its events", record.is_leased() ? "leased" : "not leased",
         life.has_open_lease() ? "leased" : "not leased");
  if (!record.lease) return;
  const LeaseLife& lease = life.leases.back();
  if (record.lease->current_lease_id != lease.lease_id || record.lease->current_worker_id != lease.worker_id ||
      record.attempt->attempt_id != lease.attempt_id)
    fail(life.id, "the lease of its record is not the one of its events");
}

// ---- effects ------------------------------------------------------------------------------------------------------

/// A text that a call carried has appeared: that call must have been allowed to do this, to this execution, now.
void Checker::effect(std::string_view text, std::initializer_list<Act> acts, const Life& life,
                     std::optional<std::pair<std::uint64_t, std::uint64_t>> epochs) {
  const auto call = Book::call_in(text);
  if (!call) return;
  Intent* intent = book_.find(*call);
  if (!intent || std::find(acts.begin(), acts.end(), intent->act) == acts.end())
    return fail(life.id, "'{}' appeared, which no such call has sent", text);
  if (intent->id && *intent->id != life.id) fail(life.id, "call {} was about {}", *call, intent->id->to_string());
  if (intent->outcome == Intent::Outcome::refused)
    fail(life.id, "call {} ({}) was refused and took effect all the same", *call, name_of(intent->act));
  if (intent->lease && epochs && (intent->lease->epoch < epochs->first || intent->lease->epoch > epochs->second))
    fail(life.id, "call {} ({}) was made under epoch {}, and took effect in epoch {}", *call, name_of(intent->act),
         intent->lease->epoch, epochs->second);
  ++intent->effects;
}

void Checker::look_for_effects(const Life& life, const Row& row) {
  const core::ExecutionRecord &before = life.row.record, &after = row.record;
  using Epochs = std::optional<std::pair<std::uint64_t, std::uint64_t>>;
  Epochs released;
  if (after.attempt && after.attempt->released_lease_epoch)
    released = {*after.attempt->released_lease_epoch, *after.attempt->released_lease_epoch};

  const bool new_result = row.result && (!life.row.result || *row.result->result != *life.row.result->result);
  if (new_result) effect(*row.result->result, {Act::complete, Act::operator_complete}, life, released);
  if (after.ending.cancellation_reason && after.ending.cancellation_reason != before.ending.cancellation_reason)
    effect(*after.ending.cancellation_reason, {Act::cancel, Act::cancel_task}, life, released);
  if (after.progress.progress_message && after.progress.progress_message != before.progress.progress_message)
    effect(*after.progress.progress_message, {Act::progress}, life,
           Epochs({before.counters.current_lease_epoch, after.counters.current_lease_epoch}));
  if (after.attempt && after.attempt->failure_reason &&
      (!before.attempt || before.attempt->attempt_id != after.attempt->attempt_id ||
       before.attempt->failure_reason != after.attempt->failure_reason))
    effect(*after.attempt->failure_reason, {Act::fail, Act::operator_fail, Act::cancel, Act::cancel_task}, life,
           released);
  const auto& replay_reason = after.pending.pending_replay_reason;
  if (replay_reason && replay_reason != before.pending.pending_replay_reason)
    effect(*replay_reason, {Act::replay}, life, std::nullopt);
  if (after.hold.lease_revoke_reason && after.hold.lease_revoke_reason != before.hold.lease_revoke_reason)
    effect(*after.hold.lease_revoke_reason, {Act::revoke}, life, std::nullopt);
}

}  // namespace ff::sim
