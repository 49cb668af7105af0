#include "cli/bulk.h"

#include "cli/commands.h"
#include "cli/execution_view.h"
#include "cli/format.h"
#include "api/backend.h"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <condition_variable>
#include <iostream>

namespace ff::cli {
namespace {

constexpr std::size_t kPreview = 10;
/// So many calls are under way at a time: enough for full batches, far from the engine's bounds.
constexpr std::size_t kUnderWayMax = 1'000;

/// What became of each execution.
struct Tally {
  std::vector<std::pair<ExecutionId, Result<Changed>>> items;  ///< all of them, or only failures when they are many
  std::uint64_t done = 0, unchanged = 0, failed = 0;
  int code = kDone;

  void add(const ExecutionId& id, Result<Changed> result, bool keep) {
    if (!result) {
      ++failed;
      if (code == kDone) code = exit_code(result.error());
    } else {
      ++(result->unchanged ? unchanged : done);
    }
    if (keep || !result) items.emplace_back(id, std::move(result));
  }
};

/// Acts on every execution, many at a time, and gathers the answers.
Tally act(Globals& globals, const Fabric& fabric, const std::vector<ExecutionId>& ids, const BulkAction& action) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable freed;
    std::size_t under_way = 0;
    Tally tally;
  };
  constexpr std::size_t kKeepMax = 1'000;
  auto shared = std::make_shared<Shared>();
  const bool keep = ids.size() <= kKeepMax;
  ProgressBar bar(globals.output, action.verb, ids.size());
  std::uint64_t started = 0;
  for (const auto& id : ids) {
    {
      std::unique_lock guard(shared->mutex);
      shared->freed.wait(guard, [&] { return shared->under_way < kUnderWayMax; });
      ++shared->under_way;
    }
    action.start(fabric, id, [shared, id, keep](Result<Changed> result) {
      std::lock_guard guard(shared->mutex);
      shared->tally.add(id, std::move(result), keep);
      --shared->under_way;
      shared->freed.notify_one();
    });
    bar.show(++started);
  }
  std::unique_lock guard(shared->mutex);
  shared->freed.wait(guard, [&] { return shared->under_way == 0; });
  return std::move(shared->tally);
}

int tell(Globals& globals, const Tally& tally, const BulkAction& action, bool named) {
  Output& output = globals.output;
  if (output.json()) {
    core::json::array items;
    for (const auto& [id, result] : tally.items) {
      core::json::object item;
      if (result)
        item = core::to_value(*result).as_object();
      else
        item["error"] = to_json(result.error());
      item["execution_id"] = id.to_string();
      items.push_back(std::move(item));
    }
    core::json::object document;
    document["items"] = std::move(items);
    document["done"] = tally.done;
    document["unchanged"] = tally.unchanged;
    document["failed"] = tally.failed;
    output.document(document);
    return tally.code;
  }
  for (const auto& [id, result] : tally.items) {
    if (!result) {
      output.error_line(fmt::format("ff: {}: {}", id.to_string(), printable(result.error().to_string())));
    } else if (named) {
      const std::string state(core::name_of(result->public_state));
      output.line(fmt::format("{}  {}{}", id.to_string(), output.paint(state, colour_of(result->public_state)),
                              result->unchanged ? " already" : ""));
    }
  }
  if (!named)
    output.line(fmt::format("{} {}{}{}.", action.past_verb, number_text(tally.done),
                            tally.unchanged > 0 ? fmt::format(", {} were so already", number_text(tally.unchanged)) : "",
                            tally.failed > 0 ? fmt::format(", {} refused", number_text(tally.failed)) : ""));
  return tally.code;
}

bool confirmed(Globals& globals, const BulkAction& action, std::size_t count) {
  if (isatty(STDIN_FILENO) != 1 || !globals.output.err_is_terminal() || globals.output.json()) return false;
  fmt::print(stderr, "{} {} executions? [y/N] ", action.verb, number_text(count));
  std::fflush(stderr);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

Result<std::vector<ExecutionId>> parse_ids(const std::vector<std::string>& words) {
  std::vector<ExecutionId> ids;
  for (const auto& word : words) {
    auto id = ExecutionId::parse(word);
    if (!id) return std::unexpected(id.error());
    ids.push_back(*id);
  }
  return ids;
}

/// Shows what matches and asks; the ids, or none when there is no yes.
Result<std::optional<std::vector<ExecutionId>>> choose(Globals& globals, const Fabric& fabric, const BulkWords& words,
                                                       const BulkAction& action) {
  auto info = fabric.info();
  if (!info) return std::unexpected(info.error());
  auto filter = parse_filter(words.filter, info->server_time_ms);
  if (!filter) return std::unexpected(filter.error());
  if (filter->state.empty()) filter->state = action.states;
  std::vector<ExecutionId> ids;
  std::vector<ExecutionSummary> preview;
  auto end = walk(fabric, {.filter = std::move(*filter), .limit = kPage, .order = ListOrder::oldest_first},
                  [&](const std::vector<ExecutionSummary>& items) {
                    for (const auto& item : items) {
                      ids.push_back(item.execution_id);
                      if (preview.size() < kPreview) preview.push_back(item);
                    }
                    return true;
                  });
  if (!end) return std::unexpected(end.error());
  if (words.yes || ids.empty()) return ids;

  if (globals.output.json()) {
    core::json::object document;
    document["matching"] = ids.size();
    document["preview"] = core::to_value(preview);
    globals.output.document(document);
  } else {
    show_summaries(globals.output, preview, info->server_time_ms);
    if (ids.size() > preview.size()) globals.output.line(fmt::format("... and {} more", number_text(ids.size() - preview.size())));
  }
  (void)globals.output.flush();
  if (confirmed(globals, action, ids.size())) return ids;
  globals.output.remark(fmt::format("Nothing was changed: {} match. Add --yes to {} them.", number_text(ids.size()), action.verb));
  return std::nullopt;
}

}  // namespace

void add_bulk_options(CLI::App* command, BulkWords& words) {
  command->add_option("ID", words.ids, "The executions; or give a filter instead");
  add_filter_options(command, words.filter);
  command->add_flag("--yes", words.yes, "Act on all that match the filter without asking");
}

Result<int> run_bulk(Globals& globals, const BulkWords& words, const BulkAction& action) {
  const bool named = !words.ids.empty();
  if (named != words.filter.empty())
    return std::unexpected(core::invalid_input(
        "arguments", "usage",
        named ? "Name executions or give a filter, not both."
              : fmt::format("Name the executions to {}, or give a filter such as --lane or --tag.", action.verb)));
  auto ids = parse_ids(words.ids);
  if (!ids) return std::unexpected(ids.error());
  auto fabric = open_fabric(globals, Use::change);
  if (!fabric) return std::unexpected(fabric.error());
  if (!named) {
    auto chosen = choose(globals, *fabric, words, action);
    if (!chosen) return std::unexpected(chosen.error());
    if (!*chosen) return kRefused;
    ids = std::move(**chosen);
  }
  return tell(globals, act(globals, *fabric, *ids, action), action, named);
}

void add_bulk(Program& program) {
  Globals& globals = program.globals;
  struct CancelWords : BulkWords {
    std::string reason = "operator";
  };
  auto cancel = std::make_shared<CancelWords>();
  CLI::App* command = program.add(nullptr, "cancel", "Cancel executions, named or all that match a filter",
                                  "  ff cancel --lane imports --state waiting --reason 'wrong file' --yes");
  add_bulk_options(command, *cancel);
  command->add_option("--reason", cancel->reason, "Kept with the execution")->capture_default_str();
  program.on(command, [&globals, cancel] {
    const BulkAction action{
        "cancel",
        "cancelled",
        {PublicState::waiting, PublicState::delayed, PublicState::rate_limited, PublicState::waiting_children,
         PublicState::active, PublicState::suspended, PublicState::resumable},
        [cancel](const Fabric& fabric, const ExecutionId& id, Callback<Changed> done) {
          fabric.cancel({id, cancel->reason}, std::move(done));
        }};
    return run_bulk(globals, *cancel, action);
  });

  struct ReplayWords : BulkWords {
    std::optional<std::string> reason;
  };
  auto replay = std::make_shared<ReplayWords>();
  command = program.add(nullptr, "replay", "Run ended executions again, named or all that match a filter",
                        "  ff replay --kind charge --state failed --created-after 1h");
  add_bulk_options(command, *replay);
  command->add_option("--reason", replay->reason, "Kept with the next attempt");
  program.on(command, [&globals, replay] {
    const BulkAction action{"replay",
                            "replayed",
                            {PublicState::completed, PublicState::failed, PublicState::cancelled, PublicState::expired,
                             PublicState::skipped},
                            [replay](const Fabric& fabric, const ExecutionId& id, Callback<Changed> done) {
                              fabric.backend()->start(ReplayExecution{id, replay->reason, caller_identity()}, false,
                                                      std::move(done));
                            }};
    return run_bulk(globals, *replay, action);
  });
}

}  // namespace ff::cli
