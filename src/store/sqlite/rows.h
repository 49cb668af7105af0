#pragma once

#include "core/records/records.h"
#include "store/packed_event.h"
#include "store/packed_row.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/queues.h"

namespace ff::store::sqlite {

/// Content types are stored only when they are not the usual one.
inline constexpr std::string_view kDefaultContentType = "application/json";
std::string_view unless_default(std::string_view content_type);

/// What a row has besides the record.
struct RowMeta {
  std::int64_t seq = 0;
  std::int64_t last_event_id = 0;
  bool has_tags = false;
};

struct CoreRow {
  core::ExecutionRecord record;  ///< tags not yet loaded
  RowMeta meta;
};

/// The id of the row under the cursor, also when the rest cannot be read.
ExecutionId id_of_row(const Statement& row);
/// Reads a row of `FF_CORE_COLUMNS`.
Result<CoreRow> read_core(const Statement& row, Queues& queues);

Result<Lane> read_lane(const Statement& row);
Result<void> write_lane(Statement& statement, const Lane& lane);

Result<core::IdempotencyRecord> read_key(const Statement& row, const core::IdempotencyId& id);
Result<void> write_key(Statement& statement, const core::IdempotencyRecord& record);

/// The one or two events of a row, in order; `prev_event_id` leads to the one before.
struct ReadEvents {
  std::vector<Event> events;
  std::int64_t prev_event_id = 0;
};
Result<ReadEvents> read_events(const Statement& row, Queues& queues);

}  // namespace ff::store::sqlite
