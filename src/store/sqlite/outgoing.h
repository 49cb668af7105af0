#pragma once

#include "store/sqlite/batch_table.h"
#include "store/sqlite/rows.h"

namespace ff::store::sqlite {

// What a batch writes and looks up, as tables that its statements read. Rows are reused from batch to batch, so that
// their buffers are allocated once.

/// Hot rows to insert or to update.
class CoreRows final : public BatchTable {
 public:
  void clear() { used_ = 0; }
  bool empty() const { return used_ == 0; }
  void add(const core::ExecutionRecord& record, const RowMeta& meta, std::int64_t queue_id);

  std::size_t rows() const override { return used_; }
  void column(std::size_t row, int column, sqlite3_context* to) const override;
  static constexpr int kColumns = 20;

 private:
  struct Row {
    PackBuffer buffer;
    PackedRow packed;
    std::array<char, 18> id;
    RowMeta meta;
    std::int64_t queue_id = 0;
  };
  std::vector<Row> rows_;
  std::size_t used_ = 0;
};

/// The written-once parts of new executions.
class InfoRows final : public BatchTable {
 public:
  void clear() { rows_.clear(); }
  bool empty() const { return rows_.empty(); }
  void add(std::int64_t seq, const core::ExecutionInfo& info, const core::PayloadPart* payload, const Tags* tags);

  std::size_t rows() const override { return rows_.size(); }
  void column(std::size_t row, int column, sqlite3_context* to) const override;
  static constexpr int kColumns = 6;

 private:
  struct Row {
    std::int64_t seq;
    std::string policy, tags, origin;
    std::string_view content_type;
    core::SharedBytes payload;
  };
  std::vector<Row> rows_;
};

/// Events to append.
class EventRows final : public BatchTable {
 public:
  void clear() { used_ = 0; }
  void add(const EventRow& row, std::int64_t event_id, std::int64_t queue_id, std::int64_t prev_event_id);

  std::size_t rows() const override { return used_; }
  void column(std::size_t row, int column, sqlite3_context* to) const override;
  static constexpr int kColumns = 12;

 private:
  struct Row {
    std::int64_t event_id, queue_id, prev_event_id, occurred_at_ms, what;
    std::optional<std::int64_t> attempt_index, lease_epoch;
    bool about_execution;
    std::array<char, 18> id;
    std::string lease, worker, extra;
    std::string_view reason;
  };
  std::vector<Row> rows_;
  std::size_t used_ = 0;
};

/// Execution ids to look up.
class IdRows final : public BatchTable {
 public:
  void clear() { ids_.clear(); }
  void add(const ExecutionId& id) { ids_.emplace_back(id); }
  std::size_t rows() const override { return ids_.size(); }
  void column(std::size_t row, int, sqlite3_context* to) const override { give_blob(to, ids_[row].view()); }

 private:
  std::vector<IdBytes> ids_;
};

/// Rows to look up by number.
class SeqRows final : public BatchTable {
 public:
  void clear() { seqs_.clear(); }
  void add(std::int64_t seq) { seqs_.push_back(seq); }
  std::size_t rows() const override { return seqs_.size(); }
  void column(std::size_t row, int, sqlite3_context* to) const override { give(to, seqs_[row]); }

 private:
  std::vector<std::int64_t> seqs_;
};

}  // namespace ff::store::sqlite
