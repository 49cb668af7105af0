#pragma once

// Executions, attempts and events for people.

#include "cli/output.h"

#include <flowfabric/execution.h>

#include <vector>

namespace ff::cli {

void show_execution(Output& output, const Execution& execution, TimeMs now);
/// `titles` false: a further page of the same list.
void show_summaries(Output& output, const std::vector<ExecutionSummary>& items, TimeMs now, bool titles = true);
void show_attempts(Output& output, const std::vector<Attempt>& attempts, TimeMs now);
void show_events(Output& output, const std::vector<Event>& events);
/// One event by itself, for lists whose end is not known.
std::string event_line(const Event& event);

}  // namespace ff::cli
