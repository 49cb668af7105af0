#include "engine/list_by_priority.h"

namespace ff::engine {

Result<store::ListResult> list_by_priority(store::Reader& reader, store::ListQuery query) {
  store::ListResult found;
  if (!query.after || query.after->priority > 0) {
    query.along = store::ListAlong::raised;
    auto raised = reader.list(query);
    if (!raised || raised->next) return raised;
    found = std::move(*raised);
    query.after = store::ListPosition{};  // before all that have no priority
  }
  const bool full = found.records.size() == query.limit;
  query.along = store::ListAlong::oldest_first;
  query.only_unraised = true;
  query.limit = full ? 1 : query.limit - static_cast<std::uint32_t>(found.records.size());
  auto others = reader.list(query);
  if (!others) return others;
  if (full) {  // a cursor promises that more may follow
    if (!others->records.empty() || others->next) found.next = query.after;
    return found;
  }
  std::move(others->records.begin(), others->records.end(), std::back_inserter(found.records));
  found.next = others->next;
  if (found.next) found.next->priority = 0;
  return found;
}

}  // namespace ff::engine
