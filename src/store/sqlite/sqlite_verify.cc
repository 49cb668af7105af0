#include "core/state.h"
#include "store/sqlite/sqlite_reader.h"

namespace ff::store::sqlite {

Result<std::vector<std::string>> SqliteReader::verify(std::uint32_t limit) {
  std::vector<std::string> faults;
  {
    auto check = connection_.value("PRAGMA integrity_check(1)");
    if (!check) return std::unexpected(check.error());
    if (*check != "ok") faults.push_back("database: " + *check);
  }
  std::int64_t after = 0;
  while (faults.size() < limit) {
    Snapshot snapshot(*this);
    ResetLater reset(all_core_);
    all_core_.bind(1, after).bind(2, std::int64_t{kListWalkMax});
    bool any = false;
    while (faults.size() < limit) {
      auto stepped = all_core_.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) break;
      any = true;
      after = all_core_.number(0);
      const std::string id = id_of_row(all_core_).to_string();
      auto row = read(all_core_);
      if (!row) {
        faults.push_back(id + ": " + row.error().message);
        continue;
      }
      const ExecutionRecord& record = (*row)->record;
      if (auto bad = core::illegality(record); !bad.empty()) faults.push_back(id + ": " + bad);
      if (core::is_candidate(record) == all_core_.is_null(5)) faults.push_back(id + ": candidate is not as derived");
      if (core::due_at(record) != all_core_.number_if(6)) faults.push_back(id + ": due_at_ms is not as derived");
      if (static_cast<std::int64_t>(core::bucket_of(record)) != all_core_.number(8))
        faults.push_back(id + ": bucket is not as derived");
    }
    if (!any) break;
  }
  return faults;
}

}  // namespace ff::store::sqlite
