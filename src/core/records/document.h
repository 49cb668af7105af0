#pragma once

// Small records that are few and change seldom: each is one JSON document.

#include "core/json.h"

namespace ff::core {

/// What there is of them. A store keeps each kind in a table of its own.
enum class DocumentKind : std::uint8_t { worker, worker_event, api_token };
BOOST_DESCRIBE_ENUM(DocumentKind, worker, worker_event, api_token)
inline constexpr int kDocumentKinds = 3;
inline constexpr DocumentKind kAllDocumentKinds[kDocumentKinds] = {DocumentKind::worker, DocumentKind::worker_event,
                                                                   DocumentKind::api_token};
/// The name of its table.
std::string_view table_of(DocumentKind kind);

struct DocumentId {
  DocumentKind kind = DocumentKind::worker;
  std::string key;  ///< lists are in the order of its bytes

  auto operator<=>(const DocumentId&) const = default;
};

struct Document {
  DocumentId id;
  std::string body;                 ///< a JSON object
  std::optional<TimeMs> due_at_ms;  ///< when a sweep has to look at it
  std::uint64_t version = 0;

  bool operator==(const Document&) const = default;
};

template <Described T>
Document make_document(DocumentId id, const T& record, std::optional<TimeMs> due_at_ms) {
  return {std::move(id), to_json_text(record), due_at_ms, 0};
}

/// The record of a document. `corruption` when it is none.
template <Described T>
Result<T> read_document(const Document& document) {
  T record;
  JsonReader reader;
  auto parsed = parse_json(document.body);
  if (!parsed || !reader.read(*parsed, record))
    return std::unexpected(corruption(table_of(document.id.kind), document.id.key, document.body.substr(0, 200)));
  return record;
}

}  // namespace ff::core

template <>
struct std::hash<ff::core::DocumentId> {
  std::size_t operator()(const ff::core::DocumentId& id) const noexcept {
    return std::hash<std::string>{}(id.key) * 31 + static_cast<std::size_t>(id.kind);
  }
};
