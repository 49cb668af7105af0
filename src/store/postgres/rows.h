#pragma once

#include "core/records/records.h"
#include "store/packed_event.h"
#include "store/packed_row.h"
#include "store/postgres/queues.h"

namespace ff::store::postgres {

/// Content types are stored only when they are not the usual one.
inline constexpr std::string_view kDefaultContentType = "application/json";
std::string_view unless_default(std::string_view content_type);
std::string content_type_of(const Rows& rows, int row, int column);

/// Where the columns of `FF_CORE` and `FF_DONE` end.
inline constexpr int kCoreColumns = 21;
/// Where `due_at_ms` and `retain_until_ms` stand among them.
inline constexpr int kDueColumn = 5, kRetainColumn = 18;

/// Where the row of an execution stands.
struct RowMeta {
  std::optional<std::int32_t> slot;  ///< none: in the hot table
};

struct CoreRow {
  core::ExecutionRecord record;
  RowMeta meta;
  std::int64_t history_from = 0;
};

/// The id of a row, also when the rest cannot be read.
ExecutionId id_of_row(const Rows& rows, int row);
Result<CoreRow> read_core(const Rows& rows, int row, Queues& queues);

/// The attempts of a column `past_attempts`, in order.
Result<std::vector<Attempt>> read_attempts(std::string_view lines);

Result<Lane> read_lane(const Rows& rows, int row);
/// A lane's values as text, in the order of `FF_LANE`; keeps what the parameters point to.
struct LaneTexts {
  explicit LaneTexts(const Lane& lane);
  Params params() const;

  const Lane& lane;
  std::string weights, budgets, quota;
};

core::IdempotencyRecord read_key(const Rows& rows, int row);

/// The events of a row of `kHistory`.
Result<std::vector<Event>> read_events(const Rows& rows, int row, Queues& queues);

}  // namespace ff::store::postgres
