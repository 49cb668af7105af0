// What operators did.

#include "cli/commands.h"
#include "cli/format.h"
#include "cli/page.h"
#include "cli/table.h"
#include "cli/values.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

struct AuditWords {
  std::optional<std::string> actor, act, execution, since;
  std::uint32_t limit = 50;
  std::string cursor;
};

Result<ListAudit> query_of(const AuditWords& words, TimeMs now) {
  ListAudit query{.actor = words.actor, .event_type = words.act, .cursor = words.cursor, .limit = words.limit};
  if (words.execution) {
    auto id = ExecutionId::parse(*words.execution);
    if (!id) return std::unexpected(id.error());
    query.execution_id = *id;
  }
  if (words.since) {
    auto at = parse_time(*words.since, now, Side::past);
    if (!at) return std::unexpected(at.error());
    query.since_ms = *at;
  }
  return query;
}

Result<int> run_audit(Globals& globals, const AuditWords& words) {
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  auto info = fabric->info();
  if (!info) return std::unexpected(info.error());
  auto query = query_of(words, info->server_time_ms);
  if (!query) return std::unexpected(query.error());
  auto page = fabric->audit(*query);
  if (!page) return std::unexpected(page.error());
  return print_page(globals.output, *page, "Nothing was done by operators.", [&](const std::vector<Event>& events) {
    Table table({{"TIME"}, {"WHO"}, {"ACT"}, {"EXECUTION"}, {"DETAILS"}});
    for (const auto& event : events)
      table.add({time_text(event.occurred_at_ms), printable(event.actor.value_or(""), 40), event.event_type,
                 event.execution_id ? event.execution_id->to_string() : "",
                 printable(event.reason.value_or(event.details.value_or("")), 100)});
    table.print(globals.output);
  });
}

}  // namespace

void add_audit(Program& program) {
  auto words = std::make_shared<AuditWords>();
  CLI::App* command = program.add(nullptr, "audit", "List what operators did, newest first",
                                  "  ff audit --since 24h --act execution_cancelled");
  command->add_option("--actor", words->actor, "Who did it");
  command->add_option("--act", words->act, "What was done, by its word in the list");
  command->add_option("--execution", words->execution, "To this execution");
  command->add_option("--since", words->since, "Not before this time, or so long ago at most");
  command->add_option("--limit", words->limit, "How many at most, up to 500")->capture_default_str();
  command->add_option("--cursor", words->cursor, "Go on where a list ended");
  program.on(command, [&globals = program.globals, words] { return run_audit(globals, *words); });
}

}  // namespace ff::cli
