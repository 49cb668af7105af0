// What happens to an execution, as it happens.

#include "cli/commands.h"
#include "cli/execution_view.h"
#include "cli/format.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

/// How long one look waits for something to happen: long enough to be cheap, short of what servers cut off.
constexpr std::uint32_t kLookMs = 20'000;

Result<int> run_tail(Globals& globals, const std::string& id_text) {
  auto id = ExecutionId::parse(id_text);
  if (!id) return std::unexpected(id.error());
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  ReadHistory query{.execution_id = *id, .limit = kPage, .wait_ms = kLookMs};
  while (true) {
    auto page = fabric->history(query);
    if (!page) return std::unexpected(page.error());
    for (const Event& event : page->items) {
      if (globals.output.json())
        globals.output.document(core::to_value(event));
      else
        globals.output.line(event_line(event));
    }
    if (!globals.output.flush()) return kDone;  // whoever read it has gone
    if (!page->next_cursor) break;              // it has ended, and that was all
    query.cursor = *page->next_cursor;
  }
  auto execution = fabric->get(*id);
  if (!execution) return std::unexpected(execution.error());
  globals.output.remark(printable(execution->why.text));
  return kDone;
}

}  // namespace

void add_tail(Program& program) {
  auto id = std::make_shared<std::string>();
  CLI::App* command = program.add(nullptr, "tail",
                                  "Show what happened to an execution and what happens, until it ends.\n"
                                  "With --json one event per line. However it ends, the exit code is 0",
                                  "  ff tail '{fp:88}:550e8400-e29b-41d4-a716-446655440000'");
  command->add_option("ID", *id, "The execution, as {fp:N}:<uuid>")->required();
  program.on(command, [&globals = program.globals, id] { return run_tail(globals, *id); });
}

}  // namespace ff::cli
