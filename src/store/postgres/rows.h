#pragma once

#include "core/records/document.h"
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
inline constexpr int kCoreColumns = 22;
/// Where `due_at_ms` and `retain_until_ms` stand among them.
inline constexpr int kDueColumn = 5, kRetainColumn = 18;

/// Where the row of an execution stands.
struct RowMeta {
  std::optional<std::int32_t> slot;  ///< none: in the hot table
  std::string tid;                   ///< its place in the hot table, as the server wrote it
  bool locked = true;                ///< by this batch; if not, the save finds out whether it is still so
  bool remembered = false;           ///< not loaded, thus not locked
  std::size_t log_place_count = 0;   ///< commits that wrote events of it
  std::string log_places = {};       ///< where they stand; not known when it was only remembered
  bool logs = false;                 ///< this batch writes events of it
};

struct CoreRow {
  core::ExecutionRecord record;
  RowMeta meta;
};

/// Most ids begin with the time at which they were made; those of which the execution was created at least this long
/// before or after are listed by an index of their own. The statements know the number too.
inline constexpr TimeMs kNearMs = 100;
bool is_stray(const ExecutionId& id, TimeMs created_at_ms);
/// What the ids that were made at that time, or later, begin with or are greater than.
std::string ids_from(TimeMs time);

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

core::Document read_document_row(const Rows& rows, int row, core::DocumentKind kind);

/// So many places in the log are kept with an execution; when more come, the earlier ones go to the log.
inline constexpr std::size_t kLogPlacesMax = 128;
/// The places of a column `log_places`, in order.
std::vector<std::int64_t> read_log_places(std::string_view bytes);

/// The events of a row of `kHistory`.
Result<std::vector<Event>> read_events(const Rows& rows, int row, Queues& queues);

}  // namespace ff::store::postgres
