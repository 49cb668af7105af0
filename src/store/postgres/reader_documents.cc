// Documents, and the audit log.

#include "core/errors.h"
#include "store/audit.h"
#include "store/postgres/read_statements.h"
#include "store/postgres/reader.h"

#include <charconv>

namespace ff::store::postgres {
namespace {

constexpr std::uint32_t kAuditAtOnce = 500;

const Sql& of(const Sql* statements, core::DocumentKind kind) { return statements[static_cast<std::size_t>(kind)]; }

}  // namespace

Result<std::optional<core::Document>> PostgresReader::document(const core::DocumentId& id) {
  TextArray keys;
  keys.add(std::string_view(id.key));
  auto rows = run(of(sql::kDocuments, id.kind), Params().array(keys));
  if (!rows) return std::unexpected(rows.error());
  return rows->empty() ? std::nullopt : std::optional(read_document_row(*rows, 0, id.kind));
}

Result<std::vector<core::Document>> PostgresReader::documents(core::DocumentKind kind, const std::string& after,
                                                              std::uint32_t limit) {
  auto rows = run(of(sql::kDocumentsAfter, kind), Params().bytes(after).number(std::int64_t{limit}));
  if (!rows) return std::unexpected(rows.error());
  std::vector<core::Document> found;
  for (int row = 0; row < rows->size(); ++row) found.push_back(read_document_row(*rows, row, kind));
  return found;
}

Result<std::vector<core::DocumentId>> PostgresReader::due_documents(core::DocumentKind kind, TimeMs now,
                                                                    std::uint32_t limit) {
  auto rows = run(of(sql::kDocumentsDue, kind), Params().number(now).number(std::int64_t{limit}));
  if (!rows) return std::unexpected(rows.error());
  std::vector<core::DocumentId> found;
  for (int row = 0; row < rows->size(); ++row) found.push_back({kind, std::string(rows->text(row, 0))});
  return found;
}

Result<store::Walk<Event>> PostgresReader::audit(const AuditQuery& query) {
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  std::from_chars(query.after.data(), query.after.data() + query.after.size(), before);
  AuditPage page(query);
  while (true) {
    auto rows = run(sql::kAuditBefore, Params().number(before).number(std::int64_t{kAuditAtOnce}));
    if (!rows) return std::unexpected(rows.error());
    for (int row = 0; row < rows->size(); ++row) {
      auto events = read_events(*rows, row, queues_);
      if (!events) return std::unexpected(events.error());
      before = events->front().event_id;
      if (!page.add(std::move(events->front()), std::to_string(before))) return page.take();
    }
    if (static_cast<std::uint32_t>(rows->size()) < kAuditAtOnce) return page.take();
  }
}

}  // namespace ff::store::postgres
