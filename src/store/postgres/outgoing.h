#pragma once

#include "store/postgres/places.h"
#include "store/postgres/rows.h"
#include "store/postgres/shapes.h"

namespace ff::store::postgres {

// What a batch writes, column by column, as arrays for `unnest`. They are reused from batch to batch.

/// The ranges that the searches of some queues go through, as arrays: for each search where its ranges begin and end.
class RangeArrays {
 public:
  /// A range that belongs to no search.
  void add_range(const QueueRange& range);
  void add_search(const std::vector<QueueRange>& ranges);
  /// Appends where the searches begin and end, then the ranges.
  Params& append_to(Params& params);

 private:
  Int4Array firsts_, lasts_, highs_, lows_;
  Int8Array froms_;
};

/// New hot rows with their written-once parts.
class NewRows {
 public:
  void clear();
  bool empty() const { return ids_.empty(); }
  /// `logs`: the batch writes events of it.
  void add(const core::ExecutionRecord& record, std::int32_t queue_id, const core::ExecutionInfo& info,
           const core::PayloadPart* payload, bool logs);
  Params params();

 private:
  const std::string& policy_text(const std::shared_ptr<const Policy>& policy);

  PackBuffer buffer_;
  ByteaArray ids_, payloads_;
  Int4Array shape_numbers_;
  Shapes<NewShape> shapes_;
  Int8Array created_, due_, started_, mutated_, versions_, epochs_;
  Int4Array queues_, priorities_, states_, attempts_;
  Int2Array buckets_;
  BoolArray candidates_, strays_, logs_;
  ByteaArray leases_;
  TextArray workers_, claim_keys_, details_, policies_, tags_, origins_, content_types_;
  std::shared_ptr<const Policy> last_policy_;  ///< many submissions share one
  std::string last_policy_text_;
};

/// Rows that are live after the batch.
class LiveRows {
 public:
  void clear();
  bool empty() const { return ids_.empty(); }
  void add(const core::ExecutionRecord& record, const RowMeta& from, std::uint64_t from_version, LogPlaces logs);
  /// Whether the batch holds the locks of all of them.
  bool locked() const { return locked_; }
  Params params(bool with_tids);

 private:
  PackBuffer buffer_;
  bool locked_ = true;
  ByteaArray ids_, leases_;
  TidArray tids_;
  Int4Array shape_numbers_;
  Shapes<LiveShape> shapes_;
  Int8Array due_, started_, mutated_, versions_, epochs_, from_versions_;
  Int4Array priorities_, states_, attempts_, from_slots_;
  Int2Array buckets_, logs_;
  BoolArray candidates_;
  TextArray workers_, claim_keys_, details_;
};

/// Rows that have ended.
class EndedRows {
 public:
  void clear();
  bool empty() const { return ids_.empty(); }
  /// `result` replaces the stored one unless `keeps_result`.
  void add(const core::ExecutionRecord& record, const RowMeta& from, std::uint64_t from_version, std::int32_t slot,
           const core::ResultPart* result, bool keeps_result, LogPlaces logs);
  Params params(bool with_tids);

 private:
  PackBuffer buffer_;
  ByteaArray ids_, leases_, results_;
  TidArray tids_;
  Int4Array shape_numbers_;
  Shapes<EndedShape> shapes_;
  Int8Array retain_, started_, mutated_, versions_, epochs_, from_versions_;
  Int4Array priorities_, states_, attempts_, slots_, from_slots_;
  Int2Array logs_;
  BoolArray keeps_;
  TextArray workers_, details_, content_types_;
};

/// Rows that a batch relied on without loading or writing them.
class RecalledRows {
 public:
  void clear();
  bool empty() const { return ids_.empty(); }
  void add(const core::ExecutionRecord& record, const RowMeta& row);
  Params params();

 private:
  ByteaArray ids_;
  Int8Array versions_;
  TidArray tids_;
};

/// One text for each of some executions, with the slot of those that have ended.
class TextRows {
 public:
  void clear();
  bool empty() const { return ids_.empty(); }
  void add(const ExecutionId& id, std::string_view text, std::int32_t slot);
  Params params(bool with_slots);

 private:
  ByteaArray ids_;
  TextArray texts_;
  Int4Array slots_;
};

/// Entries of the index of tags.
class TagRows {
 public:
  void clear();
  bool empty() const { return keys_.empty(); }
  void add(const std::string& key, const std::string& value, TimeMs created_at_ms, const ExecutionId& id);
  Params params();

 private:
  TextArray keys_, values_;
  Int8Array created_;
  ByteaArray ids_;
};

class KeyRows {
 public:
  void clear();
  bool empty() const { return keys_.empty(); }
  void add(const core::IdempotencyRecord& record);
  Params params();
  /// The keys alone.
  Params names();

 private:
  TextArray keys_, namespaces_, operations_;
  Int4Array partitions_;
  ByteaArray ids_, outcomes_;
  Int8Array created_, expires_, versions_;
};

/// The events of a batch that go into one row of the log.
class EventRows {
 public:
  explicit EventRows(std::int32_t slot) : slot_(slot) {}

  std::int32_t slot() const { return slot_; }
  /// `number` is its place among all that the batch writes, from 1 on.
  void add(const EventRow& row, std::int32_t number, std::optional<std::int32_t> queue_id, std::int32_t shard);
  /// Places in the log that are no longer kept with their execution; no event.
  void add_earlier(const ExecutionId& id, std::int32_t number, std::int32_t shard, std::string_view places, TimeMs now);
  /// `alone`: these are all that the batch writes, and their numbers need not be told.
  Params params(bool alone);

 private:
  void add_shape(const EventShape& shape);

  std::int32_t slot_;
  TimeMs latest_at_ms_ = 0;
  ByteaArray ids_, leases_, earlier_;
  bool has_earlier_ = false;
  Int4Array shards_, shape_numbers_, numbers_;
  Shapes<EventShape> shapes_;
  Int8Array occurred_, epochs_;
  Int4Array queues_, what_, attempts_;
  TextArray workers_, reasons_, extras_;
  std::string buffer_;
};

}  // namespace ff::store::postgres
