#include "store/sqlite/documents.h"

#include "store/sqlite/statements.h"

#include <span>

namespace ff::store::sqlite {
namespace {

core::Document read(const Statement& row, core::DocumentKind kind) {
  core::Document document;
  document.id = {kind, std::string(row.text(0))};
  document.body = row.text(1);
  document.due_at_ms = row.number_if(2);
  document.version = static_cast<std::uint64_t>(row.number(3));
  return document;
}

}  // namespace

Result<void> Documents::prepare(Connection& connection, bool writes) {
  for (core::DocumentKind kind : core::kAllDocumentKinds) {
    const auto at = static_cast<std::size_t>(kind);
    const std::pair<Statement*, std::string_view> all[] = {{&find_[at], sql::kDocument[at]},
                                                           {&after_[at], sql::kDocumentsAfter[at]},
                                                           {&due_[at], sql::kDocumentsDue[at]},
                                                           {&put_[at], sql::kDocumentPut[at]},
                                                           {&erase_[at], sql::kDocumentDelete[at]}};
    for (const auto& [statement, text] : std::span(all).first(writes ? 5 : 3)) {
      auto prepared = connection.prepare(text);
      if (!prepared) return std::unexpected(prepared.error());
      *statement = std::move(*prepared);
    }
  }
  return {};
}

Result<std::optional<core::Document>> Documents::find(const core::DocumentId& id) {
  Statement& statement = of(find_, id.kind);
  ResetLater reset(statement);
  auto row = statement.bind(1, id.key).step();
  if (!row) return std::unexpected(row.error());
  return *row ? std::optional(read(statement, id.kind)) : std::nullopt;
}

Result<std::vector<core::Document>> Documents::after(core::DocumentKind kind, const std::string& key,
                                                     std::uint32_t limit) {
  Statement& statement = of(after_, kind);
  ResetLater reset(statement);
  statement.bind(1, key).bind(2, std::int64_t{limit});
  std::vector<core::Document> found;
  while (true) {
    auto row = statement.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return found;
    found.push_back(read(statement, kind));
  }
}

Result<std::vector<core::DocumentId>> Documents::due(core::DocumentKind kind, TimeMs now, std::uint32_t limit) {
  Statement& statement = of(due_, kind);
  ResetLater reset(statement);
  statement.bind(1, now).bind(2, std::int64_t{limit});
  std::vector<core::DocumentId> found;
  while (true) {
    auto row = statement.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return found;
    found.push_back({kind, std::string(statement.text(0))});
  }
}

Result<void> Documents::put(const core::Document& document) {
  Statement& statement = of(put_, document.id.kind);
  statement.bind(1, document.id.key).bind(2, document.body).bind(3, document.due_at_ms);
  return statement.bind(4, static_cast<std::int64_t>(document.version)).run();
}

Result<void> Documents::erase(const core::DocumentId& id) { return of(erase_, id.kind).bind(1, id.key).run(); }

}  // namespace ff::store::sqlite
