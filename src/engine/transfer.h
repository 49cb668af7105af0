#pragma once

// Moving a whole data set from one store to another, of whatever kind, through one file of lines.

#include "store/store.h"

namespace ff::engine {

/// What a data set holds, save its registry of workers, who will register where it moves to. The fingerprint is made of
/// the names and versions of all executions, lanes, keys and tokens: data sets that differ in one of them have different
/// ones.
struct Holdings {
  std::uint64_t lanes = 0;
  std::uint64_t keys = 0;
  std::uint64_t tokens = 0;
  std::uint64_t events = 0;
  std::uint64_t executions = 0;
  std::uint64_t fingerprint = 0;

  bool operator==(const Holdings&) const = default;
};

/// Walks everything and counts.
Result<Holdings> take_stock(store::Reader& reader);

/// Takes the next line, without its end.
using LineSink = std::function<Result<void>(std::string_view line)>;
/// Gives the next line, without its end; none: that was the last.
using LineSource = std::function<Result<std::optional<std::string>>()>;

/// Writes all of the data set, one record at a time; changes nothing. Refused while a lease is live, when records are
/// damaged, and, at the end, when somebody changed the data set meanwhile: what was written is then worth nothing, and
/// lacks its last line.
Result<Holdings> export_data_set(store::Store& store, const core::Dataset& dataset, const LineSink& sink);

/// Reads an export to its end. What is cut, altered, of a newer format or no export at all is `invalid_input` with the
/// line.
Result<Holdings> check_export(const LineSource& source);

struct ImportOptions {
  std::string mark;                                  ///< tells this import from any other: a random text
  std::function<void(std::uint32_t wait_ms)> pause;  ///< called when somebody else holds a lock of the store
};

/// Makes the data set of an export in a store that has none: same id, same handle key, same partitions, so that every id
/// and every handle stays valid. Until all of it is there and found right the store is marked, and nobody can open it.
/// A store with a data set is refused before anything is written.
Result<Holdings> import_data_set(store::Store& store, const LineSource& source, const ImportOptions& options);

}  // namespace ff::engine
