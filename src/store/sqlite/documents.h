#pragma once

#include "core/records/document.h"
#include "store/sqlite/connection.h"

#include <array>

namespace ff::store::sqlite {

/// The tables of documents, on one connection.
class Documents {
 public:
  /// Whoever only reads needs no statements that write.
  Result<void> prepare(Connection& connection, bool writes);

  Result<std::optional<core::Document>> find(const core::DocumentId& id);
  Result<std::vector<core::Document>> after(core::DocumentKind kind, const std::string& key, std::uint32_t limit);
  Result<std::vector<core::DocumentId>> due(core::DocumentKind kind, TimeMs now, std::uint32_t limit);
  Result<void> put(const core::Document& document);
  Result<void> erase(const core::DocumentId& id);

 private:
  using Statements = std::array<Statement, core::kDocumentKinds>;
  static Statement& of(Statements& statements, core::DocumentKind kind) {
    return statements[static_cast<std::size_t>(kind)];
  }

  Statements find_, after_, due_, put_, erase_;
};

}  // namespace ff::store::sqlite
