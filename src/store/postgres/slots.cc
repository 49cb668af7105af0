#include "store/postgres/slots.h"

#include "core/errors.h"

#include <charconv>

namespace ff::store::postgres {
namespace {

std::string_view parent_of(History of) { return of == History::executions ? "ff_exec_done" : "ff_event_log"; }

std::string table_of(History of, std::int32_t slot) {
  if (of == History::executions) return slot == kFarSlot ? "ff_exec_done_far" : fmt::format("ff_exec_done_{}", slot);
  return slot < 0 ? fmt::format("ff_event_audit_{}", -1 - slot) : fmt::format("ff_event_{}", slot);
}

/// Rows of history are written once and soon dropped: vacuum is for the visibility of index-only scans and little else.
/// Our statements are pinned to their keys and need no statistics, which are dear to gather of such rows.
std::string settings_of(History of) {
  return fmt::format("WITH ({}autovacuum_vacuum_insert_scale_factor = 1, autovacuum_analyze_threshold = 2000000000)",
                     of == History::executions ? "toast_tuple_target = 1024, " : "");
}

}  // namespace

std::int32_t done_slot(TimeMs retain_until, TimeMs now) {
  if (retain_until - now >= kFarMs) return kFarSlot;
  return static_cast<std::int32_t>(std::max(retain_until, now) / kSlotMs);
}

std::int32_t event_slot(TimeMs occurred_at, bool of_operator) {
  return static_cast<std::int32_t>(of_operator ? -1 - occurred_at / kAuditSlotMs : occurred_at / kSlotMs);
}

bool Slots::knows(History of, std::int32_t slot) {
  if (of == History::executions && slot == kFarSlot) return true;
  std::lock_guard guard(mutex_);
  return known_.contains({of, slot});
}

void Slots::forget() {
  std::lock_guard guard(mutex_);
  known_.clear();
}

Result<void> Slots::ensure(History of, std::int32_t slot) {
  if (knows(of, slot)) return {};
  const std::string_view parent = parent_of(of);
  const std::string table = table_of(of, slot);
  // Attached instead of created in place: that leaves the parent open to the batches of others, and to our own, whose
  // transaction is under way on another connection.
  auto made = side_.with([&](Connection& c) -> Result<void> {
    auto there = c.execute(fmt::format("BEGIN; SELECT pg_advisory_xact_lock('{}'::regclass::oid::integer, -1); SELECT "
                                       "to_regclass('{}') IS NOT NULL",
                                       parent, table));
    if (there && there->text(0, 0) != "t")
      there = c.execute(fmt::format("CREATE TABLE {0} (LIKE {1} INCLUDING DEFAULTS INCLUDING STORAGE) {2}; "
                                    "ALTER TABLE {1} ATTACH PARTITION {0} FOR VALUES IN ({3})",
                                    table, parent, settings_of(of), slot));
    auto ended = c.execute(there ? "COMMIT" : "ROLLBACK");
    if (!there) return std::unexpected(there.error());
    if (!ended) return std::unexpected(ended.error());
    return {};
  });
  if (!made) return made;
  std::lock_guard guard(mutex_);
  known_.emplace(of, slot);
  return {};
}

Result<std::vector<Partition>> partitions(Connection& connection, History of) {
  auto rows = connection.execute(
      fmt::format("SELECT c.relname, pg_relation_size(c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
                  "WHERE i.inhparent = '{}'::regclass",
                  parent_of(of)));
  if (!rows) return std::unexpected(rows.error());
  std::vector<Partition> found;
  for (int row = 0; row < rows->size(); ++row) {
    Partition partition;
    partition.table = rows->text(row, 0);
    partition.bytes = std::stoll(std::string(rows->text(row, 1)));
    const std::string_view name = partition.table;
    const std::string_view number = name.substr(name.rfind('_') + 1);
    if (number == "far")
      partition.slot = kFarSlot;
    else if (std::from_chars(number.data(), number.data() + number.size(), partition.slot).ptr !=
             number.data() + number.size())
      continue;  // not one of ours
    else if (name.find("_audit_") != std::string_view::npos)
      partition.slot = -1 - partition.slot;
    found.push_back(std::move(partition));
  }
  return found;
}

}  // namespace ff::store::postgres
