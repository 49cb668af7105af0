#pragma once

// One action on the executions that are named, or on all that match a filter.

#include "cli/command.h"
#include "cli/filter.h"

namespace ff::cli {

struct BulkWords {
  std::vector<std::string> ids;
  FilterWords filter;
  bool yes = false;
};

struct BulkAction {
  std::string verb;       ///< `cancel`
  std::string past_verb;  ///< `cancelled`
  /// States in which the action can do something; a filter without states means these.
  std::vector<PublicState> states;
  /// Starts the action on one execution.
  std::function<void(const Fabric&, const ExecutionId&, Callback<Changed>)> start;
};

void add_bulk_options(CLI::App* command, BulkWords& words);

/// Named executions are acted on at once. What matches a filter is shown first, and acted on after `--yes` or a yes at
/// the terminal; without one nothing is changed and the exit code is 4.
Result<int> run_bulk(Globals& globals, const BulkWords& words, const BulkAction& action);

}  // namespace ff::cli
