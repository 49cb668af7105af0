#include "core/view.h"
#include "store/lease_page.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/statements.h"
#include "store/sqlite/verify.h"

#include <array>
#include <limits>
#include <sstream>

namespace ff::store::sqlite {
namespace {

/// How many timed executions a count looks at before it becomes an estimate.
constexpr std::int64_t kCountWalkMax = 1'000'000;
/// Distinct priorities of a queue that the search for its oldest member looks at.
constexpr int kPrioritiesMax = 64;

/// A place in the index of clocks.
struct DuePosition {
  std::int64_t due_at_ms = std::numeric_limits<TimeMs>::min(), queue_id = 0, bucket = 0, seq = 0;

  std::string text() const { return fmt::format("{} {} {} {}", due_at_ms, queue_id, bucket, seq); }
  /// The beginning when there is none.
  static DuePosition parse(const std::string& text) {
    DuePosition position;
    if (!text.empty())
      std::istringstream(text) >> position.due_at_ms >> position.queue_id >> position.bucket >> position.seq;
    return position;
  }
};

class SqliteReader final : public Reader {
 public:
  static Result<std::unique_ptr<SqliteReader>> open(std::shared_ptr<SqliteShared> shared) {
    auto connection = open_connection(*shared, OpenMode::read_only);
    if (!connection) return std::unexpected(connection.error());
    auto queues = Queues::open(*connection, shared->queues);
    if (!queues) return std::unexpected(queues.error());
    std::unique_ptr<SqliteReader> reader(
        new SqliteReader(std::move(shared), std::move(*connection), std::move(*queues)));
    if (auto prepared = reader->prepare(); !prepared) return std::unexpected(prepared.error());
    return reader;
  }

  Result<TimeMs> clock() override { return shared_->now(); }

  Result<std::optional<ExecutionSnapshot>> execution(const ExecutionId& id) override {
    Snapshot snapshot(*this);
    auto row = find(id);
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    ExecutionSnapshot found;
    found.record = std::move((*row)->record);
    ResetLater reset_info(info_);
    auto info_row = info_.bind(1, (*row)->meta.seq).step();
    if (!info_row) return std::unexpected(info_row.error());
    if (!*info_row) return std::unexpected(core::corruption("ff_exec_info", "seq", "missing"));
    auto info = unpack_info(info_.text(0), info_.text(1));
    if (!info) return std::unexpected(info.error());
    if (!info_.is_null(2)) info->payload_content_type = info_.text(2);
    if (!info_.is_null(3)) info->payload_bytes = static_cast<std::uint64_t>(info_.number(3));
    found.info = std::move(*info);
    ResetLater reset_result(result_size_);
    auto result_row = result_size_.bind(1, (*row)->meta.seq).step();
    if (!result_row) return std::unexpected(result_row.error());
    if (*result_row) {
      found.result_content_type = result_size_.is_null(0) ? "application/json" : std::string(result_size_.text(0));
      found.result_bytes = static_cast<std::uint64_t>(result_size_.number(1));
    }
    return found;
  }

  Result<std::optional<std::optional<Blob>>> payload(const ExecutionId& id) override {
    Snapshot snapshot(*this);
    return blob_of(id, info_payload_, 2, 3, 4);
  }

  Result<std::optional<std::optional<Blob>>> result(const ExecutionId& id) override {
    Snapshot snapshot(*this);
    return blob_of(id, result_, 0, 1, 2);
  }

  Result<std::optional<std::vector<Attempt>>> attempts(const ExecutionId& id, std::optional<std::uint32_t> after,
                                                       std::uint32_t limit) override {
    Snapshot snapshot(*this);
    auto row = find(id);
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    std::vector<Attempt> found;
    ResetLater reset(attempts_after_);
    attempts_after_.bind(1, (*row)->meta.seq).bind(2, after ? std::int64_t{*after} + 1 : 0).bind(3, std::int64_t{limit});
    while (true) {
      auto stepped = attempts_after_.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) break;
      auto attempt = unpack_attempt(attempts_after_.text(0));
      if (!attempt) return std::unexpected(attempt.error());
      found.push_back(std::move(*attempt));
    }
    const auto& newest = (*row)->record.attempt;
    if (newest && found.size() < limit && (!after || newest->attempt_index > *after)) found.push_back(*newest);
    return found;
  }

  /// Events of one execution are chained from the newest back; a page is cut from the whole chain.
  Result<std::optional<HistoryPage>> history(const ExecutionId& id, std::int64_t after_event_id,
                                             std::uint32_t limit) override {
    Snapshot snapshot(*this);
    auto row = find(id);
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    std::deque<Event> chain;
    bool more = false;
    auto keep = [&](std::vector<Event>& events) {
      for (auto it = events.rbegin(); it != events.rend(); ++it)
        if (it->event_id > after_event_id && it->event_type != "renewed") chain.push_front(std::move(*it));
      for (; chain.size() > limit; more = true) chain.pop_back();
    };
    std::int64_t at = (*row)->meta.last_event_id;
    while (at > after_event_id) {
      ResetLater reset(event_);
      auto stepped = event_.bind(1, at).step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) break;
      auto read = read_events(event_, queues_);
      if (!read) return std::unexpected(read.error());
      keep(read->events);
      at = read->prev_event_id;
    }
    // The chain is cut where events are past their retention. Operator events are kept longer, and those before the cut
    // have an index of their own; what is older than the record belongs to an execution that had its id before.
    const IdBytes bytes(id);
    ResetLater reset(operator_events_);
    operator_events_.bind_blob(1, bytes.view()).bind(2, at);
    while (at > after_event_id) {
      auto stepped = operator_events_.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) break;
      auto read = read_events(operator_events_, queues_);
      if (!read) return std::unexpected(read.error());
      const Event& event = read->events.front();
      if (event.occurred_at_ms < (*row)->record.times.created_at_ms || event.event_type == "execution_deleted") break;
      keep(read->events);
    }
    return HistoryPage{std::vector(std::make_move_iterator(chain.begin()), std::make_move_iterator(chain.end())), more};
  }

  Result<ListResult> list(const ListQuery& query) override {
    Snapshot snapshot(*this);
    const bool tagged = !query.filter.tags.empty();
    Statement& rows = tagged ? (query.oldest_first ? tagged_oldest_ : tagged_newest_)
                             : (query.oldest_first ? list_oldest_ : list_newest_);
    ListPosition from;
    if (query.after)
      from = *query.after;
    else if (!query.oldest_first)
      from = {std::numeric_limits<TimeMs>::max(), {0xffff, Uuid{.bytes = kHighest}}};
    else
      from.created_at_ms = std::numeric_limits<TimeMs>::min();
    const IdBytes from_id(from.id);
    ResetLater reset(rows);
    rows.bind(1, from.created_at_ms).bind_blob(2, from_id.view());
    if (tagged) rows.bind(3, query.filter.tags.begin()->first).bind(4, query.filter.tags.begin()->second);

    ListResult result;
    for (std::uint32_t walked = 0;; ++walked) {
      auto stepped = rows.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) {
        result.next.reset();
        return result;
      }
      if (walked == kListWalkMax || result.records.size() == query.limit) return result;
      auto row = tagged ? find(id_from(rows.blob(0))) : read(rows);
      if (!row && row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
      if (!row || !*row) continue;  // a damaged record must not hide the others; `verify` names it
      ExecutionRecord& record = (*row)->record;
      result.next = ListPosition{record.times.created_at_ms, record.id};
      if (core::matches(record, query.filter)) result.records.push_back(std::move(record));
    }
  }

  Result<std::vector<LeaseItem>> leases(const LeaseQuery& query) override {
    Snapshot snapshot(*this);
    LeasePage page(query);
    ResetLater reset(leases_);
    leases_.bind(1, query.expired_before_ms.value_or(std::numeric_limits<TimeMs>::max()));
    while (true) {
      auto stepped = leases_.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) return page.items();
      auto row = read_core(leases_, queues_);
      if (!row && row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
      if (row) page.add(row->record);
    }
  }

  Result<std::optional<Lane>> lane(const std::string& lane_id) override {
    ResetLater reset(lane_);
    auto row = lane_.bind(1, lane_id).step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    auto lane = read_lane(lane_);
    if (!lane) return std::unexpected(lane.error());
    return std::optional(std::move(*lane));
  }

  Result<std::vector<Lane>> lanes(const std::string& after, std::uint32_t limit) override {
    std::vector<Lane> found;
    ResetLater reset(lanes_after_);
    lanes_after_.bind(1, after).bind(2, std::int64_t{limit});
    while (true) {
      auto row = lanes_after_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) return found;
      auto lane = read_lane(lanes_after_);
      if (!lane) return std::unexpected(lane.error());
      found.push_back(std::move(*lane));
    }
  }

  Result<LaneCounts> lane_counts(const std::string& lane_id) override;

  Result<std::optional<TimeMs>> oldest_candidate(const std::string& lane_id) override {
    Snapshot snapshot(*this);
    auto queues = queues_.of_lane(lane_id);
    if (!queues) return std::unexpected(queues.error());
    std::optional<TimeMs> oldest;
    for (const auto& [queue_id, queue] : *queues) {
      std::int64_t below = std::numeric_limits<std::int32_t>::max();
      for (int i = 0; i < kPrioritiesMax; ++i) {
        auto priority = number(candidate_next_priority_.bind(1, queue_id).bind(2, below));
        if (!priority) return std::unexpected(priority.error());
        if (!*priority) break;
        below = **priority;
        auto at = number(candidate_oldest_.bind(1, queue_id).bind(2, below));
        if (!at) return std::unexpected(at.error());
        if (*at && (!oldest || **at < *oldest)) oldest = *at;
      }
    }
    return oldest;
  }

  Result<std::uint64_t> ahead_of(const ExecutionRecord& record) override {
    Snapshot snapshot(*this);
    auto queue_id = queues_.id_of(record.queue, false);
    if (!queue_id) return std::unexpected(queue_id.error());
    if (!*queue_id) return 0;
    ahead_higher_.bind(1, **queue_id).bind(2, std::int64_t{record.priority}).bind(3, std::int64_t{kAheadMax});
    auto higher = number(ahead_higher_);
    if (!higher) return std::unexpected(higher.error());
    ahead_equal_.bind(1, **queue_id).bind(2, std::int64_t{record.priority}).bind(3, record.times.created_at_ms);
    const IdBytes bytes(record.id);
    ahead_equal_.bind_blob(4, bytes.view()).bind(5, std::int64_t{kAheadMax});
    auto equal = number(ahead_equal_);
    if (!equal) return std::unexpected(equal.error());
    return std::min<std::uint64_t>(kAheadMax, static_cast<std::uint64_t>(**higher + **equal));
  }

  Result<std::vector<QueueHead>> queue_heads(const std::string& lane_id, std::uint32_t count_max) override {
    Snapshot snapshot(*this);
    auto queues = queues_.of_lane(lane_id);
    if (!queues) return std::unexpected(queues.error());
    std::vector<QueueHead> heads;
    for (const auto& [queue_id, queue] : *queues) {
      ResetLater reset(candidate_head_);
      auto row = candidate_head_.bind(1, queue_id).step();
      if (!row) return std::unexpected(row.error());
      if (!*row) continue;
      const OrderKey head{static_cast<std::int32_t>(candidate_head_.number(0)), candidate_head_.number(1),
                          id_from(candidate_head_.blob(2))};
      auto count = number(candidate_count_.bind(1, queue_id).bind(2, std::int64_t{count_max}));
      if (!count) return std::unexpected(count.error());
      heads.push_back({queue, head, static_cast<std::uint64_t>(**count)});
    }
    return heads;
  }

  Result<DueResult> due(const DueQuery& query) override {
    Snapshot snapshot(*this);
    DueResult result;
    ResetLater reset(due_);
    const DuePosition from = DuePosition::parse(query.after);
    due_.bind(1, query.now).bind(2, from.due_at_ms).bind(3, from.queue_id).bind(4, from.bucket).bind(5, from.seq);
    DuePosition last;
    for (std::uint32_t walked = 0;; ++walked) {
      auto stepped = due_.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) break;
      if (walked == kListWalkMax || result.due.size() == query.limit) {
        result.next = last.text();
        break;
      }
      last = {due_.number(6), due_.number(2), due_.number(8), due_.number(0)};
      auto row = read(due_);
      if (!row) {
        if (row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
        continue;
      }
      const ExecutionRecord& record = (*row)->record;
      if (!core::has_rung(record, query.kind, query.now)) continue;
      if (!query.accept(record)) {
        ++result.filtered;
        continue;
      }
      if (!result.oldest_due_at) result.oldest_due_at = core::timer_at(record, query.kind);
      result.due.push_back(record.id);
    }
    return result;
  }

  Result<std::optional<TimeMs>> next_due() override { return number(next_due_); }

  Result<std::vector<ExecutionId>> retired(TimeMs now, std::uint32_t limit,
                                           const std::function<bool(const ExecutionRecord&)>& accept) override {
    Snapshot snapshot(*this);
    std::vector<std::int64_t> queue_ids;
    {
      ResetLater reset(queue_ids_);
      while (true) {
        auto row = queue_ids_.step();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        queue_ids.push_back(queue_ids_.number(0));
      }
    }
    std::multimap<TimeMs, ExecutionId> oldest;
    for (std::int64_t queue_id : queue_ids) {
      ResetLater reset(retired_);
      auto& [after_ms, after_seq] = retired_after_.try_emplace(queue_id, kFromStart).first->second;
      retired_.bind(1, queue_id).bind(2, now).bind(3, after_ms).bind(4, after_seq);
      auto last = kFromStart;
      for (std::uint32_t taken = 0, walked = 0; taken < limit; ++walked) {
        auto stepped = retired_.step();
        if (!stepped) return std::unexpected(stepped.error());
        if (!*stepped) {
          std::tie(after_ms, after_seq) = kFromStart;
          break;
        }
        if (walked == kListWalkMax) {
          // What was taken goes away, and the next walk begins at the same place; refused rows stay.
          if (taken == 0) std::tie(after_ms, after_seq) = last;
          break;
        }
        last = {retired_.number(7), retired_.number(0)};
        auto row = read(retired_);
        if (!row) {
          if (row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
          continue;
        }
        if (!accept((*row)->record)) continue;
        oldest.emplace(*(*row)->record.times.retain_until_ms, (*row)->record.id);
        ++taken;
      }
    }
    std::vector<ExecutionId> found;
    for (const auto& [at, id] : oldest) {
      if (found.size() == limit) break;
      found.push_back(id);
    }
    return found;
  }

  Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs now, std::uint32_t limit) override {
    std::vector<core::IdempotencyId> found;
    ResetLater reset(keys_expired_);
    keys_expired_.bind(1, now).bind(2, std::int64_t{limit});
    while (true) {
      auto row = keys_expired_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) return found;
      found.push_back({std::string(keys_expired_.text(0)), std::string(keys_expired_.text(1)),
                       std::string(keys_expired_.text(2))});
    }
  }

  Result<std::vector<std::string>> verify(std::uint32_t limit) override {
    return sqlite::verify(connection_, queues_, limit);
  }

 private:
  static constexpr std::pair<TimeMs, std::int64_t> kFromStart{std::numeric_limits<TimeMs>::min(), 0};
  static constexpr auto kHighest = [] {
    std::array<std::uint8_t, 16> bytes{};
    bytes.fill(0xff);
    return bytes;
  }();

  /// All statements of one call see the same state; no snapshot outlives the call.
  class Snapshot {
   public:
    explicit Snapshot(SqliteReader& reader) : reader_(reader) { (void)reader_.begin_.run(); }
    ~Snapshot() { (void)reader_.commit_.run(); }
    Snapshot(const Snapshot&) = delete;

   private:
    SqliteReader& reader_;
  };

  SqliteReader(std::shared_ptr<SqliteShared> shared, Connection connection, Queues queues)
      : shared_(std::move(shared)), connection_(std::move(connection)), queues_(std::move(queues)) {}

  Result<void> prepare();

  /// The row under the cursor with its tags.
  Result<std::optional<CoreRow>> read(const Statement& row) {
    auto found = read_core(row, queues_);
    if (!found) return std::unexpected(found.error());
    if (found->meta.has_tags) {
      ResetLater reset(tags_of_);
      auto stepped = tags_of_.bind(1, found->meta.seq).step();
      if (!stepped) return std::unexpected(stepped.error());
      auto tags = unpack_tags(*stepped ? tags_of_.text(0) : std::string_view());
      if (!tags) return std::unexpected(tags.error());
      found->record.tags = std::move(*tags);
    }
    return std::optional(std::move(*found));
  }

  Result<std::optional<CoreRow>> find(const ExecutionId& id) {
    const IdBytes bytes(id);
    ResetLater reset(core_by_id_);
    auto row = core_by_id_.bind_blob(1, bytes.view()).step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    return read(core_by_id_);
  }

  Result<std::optional<std::optional<Blob>>> blob_of(const ExecutionId& id, Statement& statement, int type_column,
                                                     int size_column, int blob_column) {
    auto row = find(id);
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    ResetLater reset(statement);
    auto stepped = statement.bind(1, (*row)->meta.seq).step();
    if (!stepped) return std::unexpected(stepped.error());
    std::optional<Blob> blob;
    if (*stepped && !statement.is_null(size_column)) {
      blob.emplace();
      blob->bytes = statement.blob(blob_column);
      blob->content_type = statement.is_null(type_column) ? "application/json" : std::string(statement.text(type_column));
    }
    return std::optional(std::move(blob));
  }

  /// The first column of the first row, if there is one.
  static Result<std::optional<std::int64_t>> number(Statement& statement) {
    ResetLater reset(statement);
    auto row = statement.step();
    if (!row) return std::unexpected(row.error());
    return *row ? statement.number_if(0) : std::nullopt;
  }

  std::shared_ptr<SqliteShared> shared_;
  Connection connection_;
  Queues queues_;
  Statement begin_, commit_, core_by_id_, tags_of_, info_, info_payload_, result_, result_size_, attempts_after_, event_,
      operator_events_;
  Statement list_newest_, list_oldest_, tagged_newest_, tagged_oldest_, leases_, lane_, lanes_after_;
  Statement candidate_head_, candidate_count_, candidate_oldest_, candidate_next_priority_, ahead_higher_, ahead_equal_;
  /// Per queue, behind which row the walk over ended executions goes on.
  std::map<std::int64_t, std::pair<TimeMs, std::int64_t>> retired_after_;
  Statement candidates_, due_, next_due_, due_count_, retired_, terminal_count_, queue_ids_, keys_expired_;
};

Result<void> SqliteReader::prepare() {
  const std::pair<Statement*, std::string_view> all[] = {
      {&begin_, sql::kBeginRead},
      {&commit_, sql::kCommit},
      {&core_by_id_, sql::kCoreById},
      {&tags_of_, sql::kTagsOf},
      {&info_, sql::kInfo},
      {&info_payload_, sql::kInfoPayload},
      {&result_, sql::kResult},
      {&result_size_, sql::kResultSize},
      {&attempts_after_, sql::kAttemptsAfter},
      {&event_, sql::kEvent},
      {&operator_events_, sql::kOperatorEventsBefore},
      {&list_newest_, sql::kListNewest},
      {&list_oldest_, sql::kListOldest},
      {&tagged_newest_, sql::kTaggedNewest},
      {&tagged_oldest_, sql::kTaggedOldest},
      {&leases_, sql::kLeases},
      {&lane_, sql::kLane},
      {&lanes_after_, sql::kLanesAfter},
      {&candidate_head_, sql::kCandidateHead},
      {&candidate_count_, sql::kCandidateCount},
      {&candidate_oldest_, sql::kCandidateOldest},
      {&candidate_next_priority_, sql::kCandidateNextPriority},
      {&ahead_higher_, sql::kAheadHigher},
      {&ahead_equal_, sql::kAheadEqual},
      {&candidates_, sql::kCandidates},
      {&due_, sql::kDue},
      {&next_due_, sql::kNextDue},
      {&due_count_, sql::kDueCount},
      {&retired_, sql::kRetired},
      {&terminal_count_, sql::kTerminalCount},
      {&queue_ids_, sql::kQueueIds},
      {&keys_expired_, sql::kKeysExpired},
  };
  for (const auto& [statement, text] : all) {
    auto prepared = connection_.prepare(text);
    if (!prepared) return std::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

/// Candidates and terminal executions are counted per queue in their indexes; what has a clock, over all lanes.
Result<LaneCounts> SqliteReader::lane_counts(const std::string& lane_id) {
  Snapshot snapshot(*this);
  auto queues = queues_.of_lane(lane_id);
  if (!queues) return std::unexpected(queues.error());
  LaneCounts counts;
  constexpr auto kBound = static_cast<std::int64_t>(kCountExactMax) + 1;
  std::set<std::int64_t> own;
  for (const auto& [queue_id, queue] : *queues) {
    own.insert(queue_id);
    auto terminal = number(terminal_count_.bind(1, queue_id).bind(2, kBound));
    if (!terminal) return std::unexpected(terminal.error());
    counts.terminal.value += static_cast<std::uint64_t>(**terminal);
    ResetLater reset(candidates_);
    candidates_.bind(1, queue_id);
    for (std::int64_t walked = 0; walked < kBound; ++walked) {
      auto row = candidates_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) break;
      const bool left_behind = candidates_.number(8) == static_cast<std::int64_t>(Bucket::reclaimable);
      ++(left_behind ? counts.reclaimable : counts.eligible).value;
    }
  }
  std::int64_t walked = 0;
  ResetLater reset(due_count_);
  due_count_.bind(1, kCountWalkMax);
  while (true) {
    auto row = due_count_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    walked += due_count_.number(2);
    if (!own.contains(due_count_.number(0))) continue;
    const auto count = static_cast<std::uint64_t>(due_count_.number(2));
    const auto bucket = static_cast<Bucket>(due_count_.number(1));
    if (bucket == Bucket::active) counts.active.value += count;
    if (bucket == Bucket::delayed) counts.delayed.value += count;
    if (bucket == Bucket::suspended) counts.suspended.value += count;
  }
  for (Count* count : {&counts.eligible, &counts.delayed, &counts.active, &counts.reclaimable, &counts.suspended,
                       &counts.terminal})
    count->estimate = count->value > kCountExactMax;
  if (walked >= kCountWalkMax) counts.active.estimate = counts.delayed.estimate = counts.suspended.estimate = true;
  return counts;
}

}  // namespace

Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<SqliteShared> shared) {
  auto reader = SqliteReader::open(std::move(shared));
  if (!reader) return std::unexpected(reader.error());
  return std::unique_ptr<Reader>(std::move(*reader));
}

}  // namespace ff::store::sqlite
