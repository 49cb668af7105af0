#pragma once

// The filters by which executions are listed, cancelled and replayed.

#include "cli/command.h"

namespace ff::cli {

/// A filter as it is typed.
struct FilterWords {
  std::string namespace_, lane, kind, flow, worker, created_after, created_before, blocking_reason;
  std::vector<std::string> states;
  std::vector<std::string> tags;

  /// Nothing was given: everything matches.
  bool empty() const;
};

void add_filter_options(CLI::App* command, FilterWords& words);

/// Times that are durations count back from `now`.
Result<ExecutionFilter> parse_filter(const FilterWords& words, TimeMs now);

/// Calls `visit` for each page of what matches, until it answers false or there is no more. Returns the cursor behind
/// the last page that was read, if more may follow.
Result<std::optional<std::string>> walk(const Fabric& fabric, ListExecutions query,
                                        const std::function<bool(const std::vector<ExecutionSummary>&)>& visit);

}  // namespace ff::cli
