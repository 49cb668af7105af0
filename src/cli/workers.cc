#include "api/acting.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/table.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

struct ListWords {
  std::optional<std::string> lane, namespace_;
};

std::string joined(const std::vector<std::string>& words, const char* when_empty) {
  return words.empty() ? when_empty : printable(fmt::format("{}", fmt::join(words, ",")), 60);
}

Result<int> run_workers(Globals& globals, const ListWords& words) {
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  ListWorkers query{.namespace_ = words.namespace_, .lane = words.lane, .limit = kPage};
  std::vector<WorkerInfo> workers;
  while (true) {
    auto page = fabric->workers(query);
    if (!page) return std::unexpected(page.error());
    workers.insert(workers.end(), page->items.begin(), page->items.end());
    if (!page->next_cursor) break;
    query.cursor = *page->next_cursor;
  }
  if (globals.output.json()) return print_document(globals, workers);
  if (workers.empty()) {
    globals.output.remark("No live workers.");
    return kDone;
  }
  auto info = fabric->info();
  if (!info) return std::unexpected(info.error());
  Table table({{"INSTANCE"}, {"POOL"}, {"NAMESPACE"}, {"LANES"}, {"CAPABILITIES"}, {"KINDS"},
               {"RUNNING", Table::Align::right}, {"LAST SIGN"}});
  for (const auto& worker : workers) {
    std::string running = std::to_string(worker.leases_held);
    if (worker.max_concurrent_tasks) running += fmt::format("/{}", *worker.max_concurrent_tasks);
    table.add({worker.worker_instance_id, worker.worker_id, worker.namespace_.value_or("all"), joined(worker.lanes, ""),
               joined(worker.capabilities, ""), joined(worker.kinds, "all"), running,
               relative_text(worker.last_heartbeat_at_ms, info->server_time_ms)});
  }
  table.print(globals.output);
  return kDone;
}

Result<int> run_dead(Globals& globals, const MarkWorkerDead& request) {
  auto opened = open_fabric(globals, Use::change);
  if (!opened) return std::unexpected(opened.error());
  core::Caller caller;
  caller.actor = caller_identity();
  const Fabric fabric(api::acting_for(opened->backend(), std::move(caller)));
  auto marked = fabric.mark_worker_dead(request);
  if (!marked) return std::unexpected(marked.error());
  if (globals.output.json()) return print_document(globals, *marked);
  std::string line = request.worker_instance_id + "  struck off";
  if (request.revoke_leases)
    line += fmt::format(", {} {} revoked", marked->leases_revoked, marked->leases_revoked == 1 ? "lease" : "leases");
  globals.output.line(line);
  return kDone;
}

}  // namespace

void add_workers(Program& program) {
  Globals& globals = program.globals;
  auto words = std::make_shared<ListWords>();
  CLI::App* workers =
      program.add(nullptr, "workers", "List the workers that are alive, or strike one off",
                  "  ff workers --lane imports\n  ff workers dead vm-20076-71aa7af8 --reason 'that machine burns' --revoke-leases");
  workers->require_subcommand(0, 1);
  workers->add_option("--lane", words->lane, "Those that serve this lane");
  workers->add_option("--namespace", words->namespace_, "Those that work for this namespace alone");
  program.on(workers, [&globals, words] { return run_workers(globals, *words); });

  auto request = std::make_shared<MarkWorkerDead>();
  CLI::App* dead = program.add(workers, "dead",
                               "Strike a worker off the list. Its leases run out by themselves, or are revoked at once.\n"
                               "One that is alive after all comes back with its next sign of life",
                               "  ff workers dead vm-20076-71aa7af8 --reason 'that machine burns' --revoke-leases");
  dead->add_option("INSTANCE", request->worker_instance_id, "The worker, as the list shows it")->required();
  dead->add_option("--reason", request->reason, "Kept with what operators did")->required();
  dead->add_option("--namespace", request->namespace_, "Of the worker that works for this namespace alone");
  dead->add_flag("--revoke-leases", request->revoke_leases, "Take its tasks away: others may have them at once");
  program.on(dead, [&globals, request] { return run_dead(globals, *request); });
}

}  // namespace ff::cli
