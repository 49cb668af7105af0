#pragma once

#include "core/errors.h"
#include "core/records/records.h"

namespace ff::store {

/// `store_refused`: opening a store was refused, with the reason in the context.
inline Error refusal(std::string reason, std::string message) {
  return {ErrorCode::store_refused, std::move(message), {{"reason", std::move(reason)}}};
}

/// An import into the store was interrupted: what is there is a part of a data set and must not pass as the whole.
inline Error import_unfinished(const core::Dataset& dataset) {
  return refusal("import_unfinished",
                 fmt::format("The import of data set {} into this store is under way or was interrupted, so it holds a "
                             "part of the data only. Wait for it to end; if it will not, empty the store (remove the "
                             "file or the database) and run `ff import` again.",
                             dataset.data_set_id.to_string()));
}

}  // namespace ff::store
