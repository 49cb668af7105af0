#include "cli/commands.h"
#include "cli/execution_view.h"
#include "cli/filter.h"
#include "cli/page.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

struct ListWords {
  FilterWords filter;
  std::uint64_t limit = 50;
  std::string cursor;
  bool all = false;
  bool oldest_first = false;
  bool by_priority = false;
};

/// With `--all` nothing is gathered: each page is printed as it comes.
Result<int> run_all(Globals& globals, const Fabric& fabric, ListExecutions query, TimeMs now) {
  std::uint64_t count = 0;
  query.limit = kPage;
  auto end = walk(fabric, std::move(query), [&](const std::vector<ExecutionSummary>& items) {
    if (globals.output.json())
      for (const auto& item : items) globals.output.document(core::to_value(item));
    else if (!items.empty())
      show_summaries(globals.output, items, now, count == 0);
    count += items.size();
    return true;
  });
  if (!end) return std::unexpected(end.error());
  if (count == 0) globals.output.remark("Nothing matches.");
  return kDone;
}

Result<int> run_list(Globals& globals, const ListWords& words) {
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  auto info = fabric->info();
  if (!info) return std::unexpected(info.error());
  const TimeMs now = info->server_time_ms;
  auto filter = parse_filter(words.filter, now);
  if (!filter) return std::unexpected(filter.error());
  ListExecutions query{.filter = std::move(*filter), .cursor = words.cursor};
  if (words.oldest_first) query.order = ListOrder::oldest_first;
  if (words.by_priority) query.order = ListOrder::priority;
  if (words.all) return run_all(globals, *fabric, std::move(query), now);

  Page<ExecutionSummary> found;
  while (found.items.size() < words.limit) {
    query.limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(kPage, words.limit - found.items.size()));
    auto page = fabric->list(query);
    if (!page) return std::unexpected(page.error());
    found.items.insert(found.items.end(), page->items.begin(), page->items.end());
    found.next_cursor = page->next_cursor;
    if (!page->next_cursor) break;
    query.cursor = *page->next_cursor;
  }
  return print_page(globals.output, found, "Nothing matches.", [&](const std::vector<ExecutionSummary>& items) {
    show_summaries(globals.output, items, now);
  });
}

}  // namespace

void add_list(Program& program) {
  auto words = std::make_shared<ListWords>();
  CLI::App* command = program.add(nullptr, "list", "List executions, newest first",
                                  "  ff list --lane default --state waiting,delayed --tag tenant=acme");
  add_filter_options(command, words->filter);
  command->add_option("--limit", words->limit, "How many at most")->check(CLI::NonNegativeNumber)->capture_default_str();
  command->add_option("--cursor", words->cursor, "Go on where a list ended");
  auto* all = command->add_flag("--all", words->all, "Everything that matches; with --json one object per line");
  command->get_option("--limit")->excludes(all);
  auto* oldest_first = command->add_flag("--oldest-first", words->oldest_first, "In order of creation");
  command->add_flag("--by-priority", words->by_priority, "Highest priority first, then in order of creation")
      ->excludes(oldest_first);
  program.on(command, [&globals = program.globals, words] { return run_list(globals, *words); });
}

}  // namespace ff::cli
