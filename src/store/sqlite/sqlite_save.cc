// The second half of a batch: writing what the decisions changed.

#include "core/errors.h"
#include "store/sqlite/sqlite_session.h"
#include "store/sqlite/statements.h"

#include <sqlite3.h>

namespace ff::store::sqlite {
Result<Step> SqliteSession::save(std::span<Unit* const> units) {
  for (Unit* unit : units) {
    core::WorkingSet& set = unit->set;
    if (auto saved = save_events(set); !saved) return std::unexpected(saved.error());
    if (auto saved = save_executions(set); !saved) return std::unexpected(saved.error());
    if (auto saved = save_parts(set); !saved) return std::unexpected(saved.error());
  }
  if (auto committed = commit(); !committed) return std::unexpected(committed.error());
  for (Unit* unit : units) unit->outcome = Unit::Outcome::committed;
  return Step::done;
}

Result<void> SqliteSession::commit() {
  if (auto committed = commit_.run(); !committed) return committed;
  in_transaction_ = false;
  queues_.committed();
  finish_checkpoint_ = shared_->checkpointer.committed(wal_pages_);
  return {};
}

/// Events come first, because the hot rows remember the last one of their execution.
Result<void> SqliteSession::save_events(core::WorkingSet& set) {
  if (set.events().empty()) return {};
  new_events_.clear();
  std::int64_t last = 0;
  {
    ResetLater reset(event_head_);
    auto row = event_head_.step();
    if (!row) return std::unexpected(row.error());
    last = event_head_.number(1);
  }
  const auto& events = set.events();
  for (std::size_t at = 0; at < events.size();) {
    const EventRow row = event_row(events, at);
    at += row.lease ? 2 : 1;
    last += row.lease ? 2 : 1;
    std::int64_t queue_id = 0;
    if (row.event->queue) {
      auto found = queues_.id_of(row.event->queue, true);
      if (!found) return std::unexpected(found.error());
      queue_id = **found;
    }
    std::int64_t* chain = row.event->execution_id ? &rows_[*row.event->execution_id].last_event_id : nullptr;
    new_events_.add(row, last, queue_id, chain ? *chain : 0);
    if (chain) *chain = last;
  }
  if (auto done = event_insert_.run(); !done) return done;
  return event_head_set_.bind(1, last).run();
}

Result<void> SqliteSession::save_executions(core::WorkingSet& set) {
  new_core_.clear();
  new_info_.clear();
  changed_core_.clear();
  std::int64_t last_seq = 0;
  for (const auto& slot : set.executions().slots()) {
    if (!slot.dirty) continue;
    if (slot.value && !slot.stored) {
      if (last_seq == 0) {
        ResetLater reset(last_seq_);
        if (auto row = last_seq_.step(); !row) return std::unexpected(row.error());
        last_seq = last_seq_.number(0);
      }
      if (auto added = add_new(set, slot, ++last_seq); !added) return added;
    } else if (slot.value) {
      if (auto added = add_changed(slot); !added) return added;
    } else if (slot.stored) {
      if (auto erased = erase_execution(slot); !erased) return erased;
    }
  }
  if (!new_core_.empty()) {
    if (auto done = core_insert_.run(); !done) return done;
    if (auto done = info_insert_.run(); !done) return done;
  }
  return changed_core_.empty() ? Result<void>() : core_update_.run();
}

Result<void> SqliteSession::add_changed(const ExecutionSlot& slot) {
  const core::ExecutionRecord& record = *slot.value;
  const RowMeta& meta = rows_[slot.key];
  auto queue_id = queues_.id_of(record.queue, true);
  if (!queue_id) return std::unexpected(queue_id.error());
  changed_core_.add(record, meta, **queue_id);
  if (slot.before->tags == record.tags) return {};
  const std::string text = record.tags ? pack_tags(*record.tags) : std::string();
  if (auto done = info_tags_.bind(1, meta.seq).bind_or_null(2, text).run(); !done) return done;
  return save_tags(record.id, record.times.created_at_ms, slot.before->tags.get(), record.tags.get());
}

Result<void> SqliteSession::add_new(core::WorkingSet& set, const ExecutionSlot& slot, std::int64_t seq) {
  const core::ExecutionRecord& record = *slot.value;
  RowMeta& meta = rows_[slot.key];
  meta.seq = seq;
  auto queue_id = queues_.id_of(record.queue, true);
  if (!queue_id) return std::unexpected(queue_id.error());
  const core::ExecutionInfo* info = set.info(slot.key);
  if (!info) return std::unexpected(core::corruption("ff_exec_info", "policy", "missing at insert"));
  new_core_.add(record, meta, **queue_id);
  new_info_.add(seq, *info, set.payload(slot.key), record.tags.get());
  return record.tags ? save_tags(record.id, record.times.created_at_ms, nullptr, record.tags.get()) : Result<void>();
}

Result<void> SqliteSession::erase_execution(const ExecutionSlot& slot) {
  const std::int64_t seq = rows_[slot.key].seq;
  for (Statement* statement : {&core_delete_, &info_delete_, &result_delete_, &attempts_delete_})
    if (auto done = statement->bind(1, seq).run(); !done) return done;
  const core::ExecutionRecord& before = *slot.before;
  return before.tags ? save_tags(slot.key, before.times.created_at_ms, before.tags.get(), nullptr) : Result<void>();
}

Result<void> SqliteSession::save_tags(const ExecutionId& id, TimeMs created_at_ms, const Tags* before,
                                      const Tags* after) {
  const IdBytes bytes(id);
  auto run = [&](Statement& statement, const std::string& key, const std::string& value) {
    return statement.bind(1, key).bind(2, value).bind(3, created_at_ms).bind_blob(4, bytes.view()).run();
  };
  auto has = [](const Tags* tags, const std::string& key, const std::string& value) {
    if (!tags) return false;
    auto it = tags->find(key);
    return it != tags->end() && it->second == value;
  };
  if (before)
    for (const auto& [key, value] : *before)
      if (!has(after, key, value))
        if (auto done = run(tag_delete_, key, value); !done) return done;
  if (after)
    for (const auto& [key, value] : *after)
      if (!has(before, key, value))
        if (auto done = run(tag_insert_, key, value); !done) return done;
  return {};
}

Result<void> SqliteSession::save_parts(core::WorkingSet& set) {
  auto seq_of = [&](const ExecutionId& id) -> std::optional<std::int64_t> {
    if (!set.execution(id)) return std::nullopt;  // erased in the same batch, with all its parts
    auto it = rows_.find(id);
    return it == rows_.end() || it->second.seq == 0 ? std::nullopt : std::optional(it->second.seq);
  };
  for (const auto& slot : set.results().slots()) {
    const auto seq = slot.dirty ? seq_of(slot.key) : std::nullopt;
    if (!seq) continue;
    if (!slot.value) {
      if (auto done = result_delete_.bind(1, *seq).run(); !done) return done;
      continue;
    }
    result_put_.bind(1, *seq).bind_or_null(2, unless_default(slot.value->result_content_type));
    if (auto done = result_put_.bind_blob(3, *slot.value->result).run(); !done) return done;
  }
  for (const auto& slot : set.attempts().slots()) {
    const auto seq = slot.dirty && slot.value ? seq_of(slot.key.execution_id) : std::nullopt;
    if (!seq) continue;
    const std::string text = pack_attempt(*slot.value);
    attempt_put_.bind(1, *seq).bind(2, std::int64_t{slot.key.attempt_index}).bind(3, text);
    if (auto done = attempt_put_.run(); !done) return done;
  }
  for (const auto& slot : set.lanes().slots())
    if (slot.dirty && slot.value)
      if (auto done = write_lane(lane_put_, *slot.value); !done) return done;
  for (const auto& slot : set.keys().slots()) {
    if (!slot.dirty) continue;
    if (slot.value) {
      if (auto done = write_key(key_put_, *slot.value); !done) return done;
      continue;
    }
    key_delete_.bind(1, slot.key.idempotency_key).bind(2, slot.key.namespace_).bind(3, slot.key.operation);
    if (auto done = key_delete_.run(); !done) return done;
  }
  for (const auto& slot : set.documents().slots())
    if (slot.dirty)
      if (auto done = slot.value ? documents_.put(*slot.value) : documents_.erase(slot.key); !done) return done;
  return {};
}

/// Walks from the oldest kept event on. Operator events stay behind as the audit log until their own time is over.
Result<std::uint64_t> SqliteSession::trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) {
  if (auto begun = begin(); !begun) return std::unexpected(begun.error());
  auto give_up = [&](const Error& error) -> Result<std::uint64_t> {
    rollback();
    return std::unexpected(error);
  };
  std::int64_t first = 0, audit = 0;
  {
    ResetLater reset(event_head_);
    auto row = event_head_.step();
    if (!row) return give_up(row.error());
    first = event_head_.number(0);
    audit = event_head_.number(2);
  }
  std::vector<std::int64_t> removed;
  auto walk = [&](std::int64_t& from, std::int64_t end, bool operators, TimeMs until) -> Result<void> {
    ResetLater reset(events_from_);
    events_from_.bind(1, from).bind(2, std::int64_t{limit});
    while (true) {
      auto row = events_from_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row || events_from_.number(0) >= end || events_from_.number(2) >= until) return {};
      const bool is_operator = events_from_.number(1) == static_cast<std::int64_t>(EventKind::operator_);
      if (is_operator == operators) removed.push_back(events_from_.number(0));
      from = events_from_.number(0) + 1;
    }
  };
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const std::int64_t kept_from = first, audit_from = audit;
  if (auto walked = walk(first, kEnd, false, before); !walked) return give_up(walked.error());
  if (auto walked = walk(audit, first, true, audit_before); !walked) return give_up(walked.error());
  if (first == kept_from && audit == audit_from) {
    rollback();
    return 0;
  }
  for (std::int64_t event_id : removed)
    if (auto done = event_delete_.bind(1, event_id).run(); !done) return give_up(done.error());
  if (auto done = event_first_set_.bind(1, first).bind(2, audit).run(); !done) return give_up(done.error());
  if (auto done = commit(); !done) return give_up(done.error());
  return removed.size();
}

}  // namespace ff::store::sqlite
