#include "core/errors.h"
#include "core/state.h"
#include "store/sqlite/sqlite_reader.h"
#include "store/sqlite/statements.h"

namespace ff::store::sqlite {
namespace {

/// Rows that one snapshot holds.
constexpr std::int64_t kStep = 10'000;

/// Compares what is derived with what should be: the columns that drive indexes, the tags by value, parts without an
/// execution and executions without their parts. May run beside writers: each step of the walk is one snapshot.
class Verification {
 public:
  Verification(Connection& connection, Queues& queues, std::uint32_t limit)
      : connection_(connection), queues_(queues), limit_(limit) {}

  Result<std::vector<std::string>> run() {
    auto check = connection_.value("PRAGMA integrity_check(1)");
    if (!check) return std::unexpected(check.error());
    if (*check != "ok") faults_.push_back("database: " + *check);
    for (const auto step :
         {&Verification::prepare, &Verification::executions, &Verification::stray_tags, &Verification::stray_parts})
      if (auto done = (this->*step)(); !done) return std::unexpected(done.error());
    if (faults_.size() > limit_) faults_.resize(limit_);
    return std::move(faults_);
  }

 private:
  Result<void> prepare() {
    const std::pair<Statement*, std::string_view> all[] = {{&rows_, sql::kAllCore},
                                                           {&tags_, sql::kTagsOf},
                                                           {&info_, sql::kInfo},
                                                           {&attempts_, sql::kAttemptsAfter},
                                                           {&tag_, sql::kTagEntry}};
    for (const auto& [statement, text] : all) {
      auto prepared = connection_.prepare(text);
      if (!prepared) return std::unexpected(prepared.error());
      *statement = std::move(*prepared);
    }
    return {};
  }

  void fault(const std::string& whose, std::string_view what) { faults_.push_back(fmt::format("{}: {}", whose, what)); }
  bool enough() const { return faults_.size() >= limit_; }

  Result<void> executions() {
    std::int64_t after = 0;
    for (bool any = true; any && !enough();) {
      any = false;
      ResetLater reset(rows_);
      rows_.bind(1, after).bind(2, kStep);
      while (!enough()) {
        auto stepped = rows_.step();
        if (!stepped) return std::unexpected(stepped.error());
        if (!*stepped) break;
        any = true;
        after = rows_.number(0);
        if (auto done = execution(id_of_row(rows_).to_string()); !done) return done;
      }
    }
    return {};
  }

  /// The row under the cursor.
  Result<void> execution(const std::string& id) {
    auto row = read_core(rows_, queues_);
    if (!row) {
      if (row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
      fault(id, row.error().message);
      return {};
    }
    if (row->meta.has_tags)
      if (auto done = tags(id, *row); !done) return done;
    const core::ExecutionRecord& record = row->record;
    if (auto bad = core::illegality(record); !bad.empty()) fault(id, bad);
    if (core::is_candidate(record) == rows_.is_null(5)) fault(id, "candidate is not as derived");
    if (core::due_at(record) != rows_.number_if(6)) fault(id, "due_at_ms is not as derived");
    if (static_cast<std::int64_t>(core::bucket_of(record)) != rows_.number(8)) fault(id, "bucket is not as derived");
    return parts(id, row->meta.seq);
  }

  Result<void> tags(const std::string& id, CoreRow& row) {
    ResetLater reset(tags_);
    auto stepped = tags_.bind(1, row.meta.seq).step();
    if (!stepped) return std::unexpected(stepped.error());
    auto tags = unpack_tags(*stepped ? tags_.text(0) : std::string_view());
    if (!tags) {
      fault(id, tags.error().message);
      return {};
    }
    row.record.tags = std::move(*tags);
    const IdBytes bytes(row.record.id);
    for (const auto& [key, value] : *row.record.tags) {
      ResetLater reset_tag(tag_);
      tag_.bind(1, key).bind(2, value).bind(3, row.record.times.created_at_ms).bind_blob(4, bytes.view());
      auto found = tag_.step();
      if (!found) return std::unexpected(found.error());
      if (!*found) fault(id, fmt::format("ff_exec_tag: {}: missing", key));
    }
    return {};
  }

  /// The written-once part and the past attempts can be read.
  Result<void> parts(const std::string& id, std::int64_t seq) {
    ResetLater reset_info(info_);
    auto stepped = info_.bind(1, seq).step();
    if (!stepped) return std::unexpected(stepped.error());
    if (!*stepped)
      fault(id, core::corruption("ff_exec_info", "seq", "missing").message);
    else if (auto info = unpack_info(info_.text(0), info_.text(1)); !info)
      fault(id, info.error().message);
    ResetLater reset_attempts(attempts_);
    attempts_.bind(1, seq).bind(2, std::int64_t{0}).bind(3, kStep);
    while (!enough()) {
      stepped = attempts_.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) break;
      if (auto attempt = unpack_attempt(attempts_.text(0)); !attempt) fault(id, attempt.error().message);
    }
    return {};
  }

  Result<void> stray_tags() {
    auto stray = connection_.prepare(sql::kStrayTags);
    if (!stray) return std::unexpected(stray.error());
    stray->bind(1, std::int64_t{limit_});
    while (true) {
      auto row = stray->step();
      if (!row) return std::unexpected(row.error());
      if (!*row) return {};
      fault(id_from(stray->blob(0)).to_string(), fmt::format("ff_exec_tag: {}: not among its tags", stray->text(1)));
    }
  }

  Result<void> stray_parts() {
    const std::pair<std::string_view, std::string_view> all[] = {{"ff_exec_info", sql::kStrayInfo},
                                                                 {"ff_exec_result", sql::kStrayResults},
                                                                 {"ff_attempt_past", sql::kStrayAttempts}};
    for (const auto& [table, text] : all) {
      auto stray = connection_.prepare(text);
      if (!stray) return std::unexpected(stray.error());
      stray->bind(1, std::int64_t{limit_});
      while (true) {
        auto row = stray->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        fault(std::string(table), fmt::format("seq: {}: belongs to no execution", stray->number(0)));
      }
    }
    return {};
  }

  Connection& connection_;
  Queues& queues_;
  std::uint32_t limit_;
  std::vector<std::string> faults_;
  Statement rows_, tags_, info_, attempts_, tag_;
};

}  // namespace

Result<std::vector<std::string>> SqliteReader::verify(std::uint32_t limit) {
  return Verification(connection_, queues_, limit).run();
}

}  // namespace ff::store::sqlite
