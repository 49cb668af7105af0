#include "store/redis/commit.h"

#include "core/ids.h"
#include "core/ops/keyed.h"

namespace ff::store::redis {
namespace {

const std::string* claim_key_of(const ExecutionRecord* record) {
  return record && record->is_leased() && record->lease->claim_key ? &*record->lease->claim_key : nullptr;
}

std::string text_of(std::int64_t number) { return fmt::format_int(number).str(); }

}  // namespace

Result<std::uint16_t> Commit::partition_of(Unit& unit, const core::Partitioning& partitioning) {
  core::WorkingSet& set = unit.set;
  std::optional<std::uint16_t> found;
  bool several = false;
  auto meet = [&](std::uint16_t partition) {
    several = several || (found && *found != partition);
    found = partition;
  };
  for (const auto& slot : set.executions().slots()) meet(slot.key.partition);
  for (const auto& slot : set.keys().slots()) meet(core::partition_of(slot.key, partitioning));
  for (const auto& slot : set.documents().slots())
    if (slot.dirty) meet(0);
  for (const auto& slot : set.lanes().slots())
    if (slot.dirty) meet(0);
  for (const auto& event : set.events()) meet(event.partition);
  if (several)
    return core::fail(
        ErrorCode::invariant_violation,
        "Operations on several partitions wanted to commit together; nothing was written. Please report this.");
  return found.value_or(0);
}

bool Commit::only_erases(Unit& unit) {
  auto erased = [](const auto& slots) {
    return std::all_of(slots.begin(), slots.end(), [](const auto& slot) { return !slot.dirty || !slot.value; });
  };
  return erased(unit.set.executions().slots()) && erased(unit.set.keys().slots()) &&
         erased(unit.set.lanes().slots()) && erased(unit.set.documents().slots());
}

Commit::Commit(Unit& unit, const Context& context, CommitCall& call) : call_(call), context_(context) {
  core::WorkingSet& set = unit.set;
  if (context.latest_ms > 0)
    call.latest_ms_ = call.latest_ms_ > 0 ? std::min(call.latest_ms_, context.latest_ms) : context.latest_ms;
  const NewEvents events = add_events(set);
  for (const auto& slot : set.executions().slots()) {
    const Loads::Execution* loaded = slot.stored ? context.loads.execution(set, slot.key) : nullptr;
    const std::size_t compared =
        call.compare(call.place_.record(slot.key.uuid), loaded ? std::string_view(loaded->value) : std::string_view());
    if (slot.dirty || (slot.value && events.contains(slot.key))) add_execution(set, slot, events, compared);
    call.wakes_ = call.wakes_ || slot.dirty;
  }
  add_parts(set);
  add_lanes(set);
  add_keys(set);
  add_documents(set);
  ++call.units_;
}

void Commit::write(std::size_t compared, std::string value, std::size_t what) {
  call_.compared_[compared].value = std::move(value);
  call_.compared_[compared].what = what;
}

void Commit::stand_witness(const std::string& key, bool erased) {
  if (!witness_.key.empty()) return;
  witness_ = {key, erased};
}

bool Witness::tells(const Value& value, std::string_view mark) const {
  return erased ? value.is_nil() : mark_of(value.text()) == mark;
}

/// The newest events of each execution. An event of an execution that this unit does not hold is chained to nothing.
Commit::NewEvents Commit::add_events(core::WorkingSet& set) {
  NewEvents newest;
  const std::deque<core::EventRecord>& events = set.events();
  for (std::size_t at = 0; at < events.size();) {
    const bool pair = at + 1 < events.size() && core::is_pair(events[at], events[at + 1]);
    const core::EventRecord& event = events[pair ? at + 1 : at];
    LastEvents stored;
    std::optional<EventEntries::Newest> here;
    const bool held = event.execution_id && set.executions().find(*event.execution_id);
    if (held) {
      if (auto it = newest.find(*event.execution_id); it != newest.end()) here = it->second;
      if (const auto* loaded = context_.loads.execution(set, *event.execution_id)) stored = loaded->last_events;
    }
    const auto added = call_.events_.add(pair ? &events[at] : nullptr, event, stored, here);
    if (held) newest[*event.execution_id] = added;
    at += pair ? 2 : 1;
  }
  return newest;
}

void Commit::add_execution(core::WorkingSet& set, const ExecutionSlot& slot, const NewEvents& events,
                           std::size_t compared) {
  if (!slot.value && !slot.stored) return;
  const Place& place = call_.place_;
  if (slot.value)
    add_value(set, slot, events, compared);
  else
    for (auto key : {place.record(slot.key.uuid), place.data(slot.key.uuid), place.result(slot.key.uuid),
                     place.attempts(slot.key.uuid)})
      call_.erased_.push_back(std::move(key));
  if (slot.dirty) {
    const ExecutionRecord* before = slot.stored ? slot.before.get() : nullptr;
    add_entries(before, slot.value.get(), slot.key);
    add_tags(before, slot.value.get(), slot.key);
  }
  if (context_.reserved.contains(slot.key)) call_.remove(place.reserved(), core::raw_bytes(slot.key.uuid));
  stand_witness(call_.compared_[compared].key, !slot.value);
}

void Commit::add_value(core::WorkingSet& set, const ExecutionSlot& slot, const NewEvents& events,
                       std::size_t compared) {
  const Place& place = call_.place_;
  const Loads::Execution* loaded = slot.stored ? context_.loads.execution(set, slot.key) : nullptr;
  std::optional<ResultType> result = loaded ? loaded->result : std::nullopt;
  const auto* written = set.results().find(slot.key);
  if (written && written->dirty) {
    result.reset();
    if (written->value) {
      result = ResultType{written->value->result->size(), written->value->result_content_type};
      call_.sets_.emplace_back(place.result(slot.key.uuid), pack_result(*written->value));
    } else {
      call_.erased_.push_back(place.result(slot.key.uuid));
    }
  }
  const auto newest = events.find(slot.key);
  const bool has_new = newest != events.end();
  write(compared,
        pack_execution(*slot.value, result, loaded ? loaded->last_events : LastEvents(),
                       has_new ? std::optional(newest->second) : std::nullopt, context_.mark),
        has_new ? newest->second.any.entry + 2 : 1);
  if (slot.stored) return;
  const core::PayloadPart* payload = set.payload(slot.key);
  if (const core::ExecutionInfo* info = set.info(slot.key))
    call_.sets_.emplace_back(place.data(slot.key.uuid),
                             pack_data(*info, payload && payload->payload ? payload->payload.get() : nullptr));
}

/// Adds, moves and removes the entries that lead to a record, in every index.
void Commit::add_entries(const ExecutionRecord* before, const ExecutionRecord* after, const ExecutionId& id) {
  const Place& place = call_.place_;
  const std::string_view member = core::raw_bytes(id.uuid);
  auto by_time = [&](const std::string& index, std::optional<TimeMs> from, std::optional<TimeMs> to) {
    if (from == to) return;
    if (to)
      call_.add(index, text_of(*to), member);
    else
      call_.remove(index, member);
  };
  auto created = [](const ExecutionRecord* r) { return r ? std::optional(r->times.created_at_ms) : std::nullopt; };
  auto due = [](const ExecutionRecord* r) { return r ? core::due_at(*r) : std::nullopt; };
  auto retain = [](const ExecutionRecord* r) { return r ? r->times.retain_until_ms : std::nullopt; };
  by_time(place.created(), created(before), created(after));
  by_time(place.due(), due(before), due(after));
  by_time(place.retention(), retain(before), retain(after));

  auto raised = [](const ExecutionRecord* r) {
    return r && r->priority > 0 ? order_bytes(core::order_key(*r)) : std::string();
  };
  if (const std::string was = raised(before), is = raised(after); was != is) {
    if (!was.empty()) call_.remove(place.raised(), was);
    if (!is.empty()) call_.add(place.raised(), "0", is);
  }

  auto queued = [&](const ExecutionRecord* r) -> std::optional<std::pair<std::string, std::string>> {
    if (!r || !core::is_candidate(*r)) return std::nullopt;
    return std::pair(place.queue(*r->queue), order_bytes(core::order_key(*r)));
  };
  const auto was = queued(before), is = queued(after);
  if (was != is) {
    // A queue with members is listed with its lane.
    auto listing = [&](const std::string& queue, const ExecutionRecord& record) -> CommitCall::Listing& {
      auto [it, added] = call_.listings_.try_emplace(queue);
      if (added) it->second = {place.queues(record.lane_id()), queue_field(*record.queue), std::nullopt, false};
      return it->second;
    };
    if (was) {
      call_.remove(was->first, was->second);
      listing(was->first, *before).left = true;
    }
    if (is) {
      call_.add(is->first, "0", is->second);
      if (auto& listed = listing(is->first, *after); !listed.description)
        listed.description = pack_queue(*after->queue);
    }
  }

  const std::string* had = claim_key_of(before);
  const std::string* has = claim_key_of(after);
  auto claim = [&](std::string_view name, const std::string& claim_key) {
    Args args;
    args.add(member);
    call_.others_.push_back({name, place.claim(claim_key), std::move(args)});
  };
  if (had && (!has || *had != *has)) claim("SREM", *had);
  if (has && (!had || *had != *has)) claim("SADD", *has);

  if (before && after && core::bucket_of(*before) == core::bucket_of(*after) && before->lane_id() == after->lane_id())
    return;
  if (before) --call_.counts_[count_field(core::bucket_of(*before), before->lane_id())];
  if (after) ++call_.counts_[count_field(core::bucket_of(*after), after->lane_id())];
}

void Commit::add_tags(const ExecutionRecord* before, const ExecutionRecord* after, const ExecutionId& id) {
  const Tags* had = before ? before->tags.get() : nullptr;
  const Tags* has = after ? after->tags.get() : nullptr;
  if (had == has) return;
  auto lacks = [](const Tags* tags, const auto& tag) {
    if (!tags) return true;
    auto it = tags->find(tag.first);
    return it == tags->end() || it->second != tag.second;
  };
  const Place& place = call_.place_;
  const std::string_view member = core::raw_bytes(id.uuid);
  if (had)
    for (const auto& tag : *had)
      if (lacks(has, tag)) call_.remove(place.tagged(tag.first, tag.second), member);
  if (has)
    for (const auto& tag : *has)
      if (lacks(had, tag)) call_.add(place.tagged(tag.first, tag.second), text_of(after->times.created_at_ms), member);
}

/// Attempts that are no longer the newest.
void Commit::add_parts(core::WorkingSet& set) {
  for (const auto& slot : set.attempts().slots()) {
    if (!slot.dirty || !slot.value || !set.execution(slot.key.execution_id)) continue;
    Args args;
    args.add(slot.key.attempt_index);
    args.add(pack_attempt(*slot.value));
    call_.others_.push_back({"HSET", call_.place_.attempts(slot.key.execution_id.uuid), std::move(args)});
  }
}

void Commit::add_lanes(core::WorkingSet& set) {
  for (const auto& slot : set.lanes().slots()) {
    if (!slot.dirty || !slot.value) continue;
    const std::string key = call_.place_.lane(slot.key);
    write(call_.compare(key, context_.loads.value(set, key)), pack_lane(*slot.value, context_.mark));
    call_.wakes_ = true;
    if (!slot.before) call_.add(call_.place_.lanes(), "0", slot.key);
    stand_witness(key, false);
  }
}

void Commit::add_keys(core::WorkingSet& set) {
  for (const auto& slot : set.keys().slots()) {
    const Place& place = call_.place_;
    const std::string key = place.key(slot.key);
    const std::size_t compared = call_.compare(key, context_.loads.value(set, key));
    if (!slot.dirty) continue;
    if (slot.value) {
      write(compared, pack_key(*slot.value, context_.mark));
      call_.add(place.key_expiry(), text_of(slot.value->expires_at_ms), key_member(slot.key));
    } else {
      call_.erased_.push_back(key);
      call_.remove(place.key_expiry(), key_member(slot.key));
    }
    stand_witness(key, !slot.value);
  }
}

void Commit::add_documents(core::WorkingSet& set) {
  const Place& place = call_.place_;
  for (const auto& slot : set.documents().slots()) {
    if (!slot.dirty || (!slot.value && !slot.stored)) continue;
    const std::string key = place.document(slot.key);
    const std::size_t compared = call_.compare(key, context_.loads.value(set, key));
    const std::string due = place.documents_due(slot.key.kind);
    if (slot.value) {
      write(compared, pack_document(*slot.value, context_.mark));
      if (!slot.stored) call_.add(place.documents(slot.key.kind), "0", slot.key.key);
    } else {
      call_.erased_.push_back(key);
      call_.remove(place.documents(slot.key.kind), slot.key.key);
    }
    if (slot.value && slot.value->due_at_ms)
      call_.add(due, text_of(*slot.value->due_at_ms), slot.key.key);
    else if (slot.before && slot.before->due_at_ms)
      call_.remove(due, slot.key.key);
    stand_witness(key, !slot.value);
  }
}

}  // namespace ff::store::redis
