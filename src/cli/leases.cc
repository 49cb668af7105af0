#include "cli/commands.h"
#include "cli/format.h"
#include "cli/page.h"
#include "cli/table.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

struct LeaseWords {
  std::optional<std::string> worker, namespace_;
  bool expired = false;
  std::uint32_t limit = 50;
  std::string cursor;
};

Result<int> run_leases(Globals& globals, const LeaseWords& words) {
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  auto info = fabric->info();
  if (!info) return std::unexpected(info.error());
  const TimeMs now = info->server_time_ms;
  ListLeases query{.worker = words.worker, .namespace_ = words.namespace_, .cursor = words.cursor, .limit = words.limit};
  if (words.expired) query.expired_before_ms = now;
  auto page = fabric->leases(query);
  if (!page) return std::unexpected(page.error());
  return print_page(globals.output, *page, "No leases.", [&](const std::vector<LeaseItem>& leases) {
    Table table({{"EXECUTION"}, {"WORKER"}, {"EXPIRES"}, {"ATTEMPT", Table::Align::right},
                 {"EPOCH", Table::Align::right}, {"LANE"}, {"NAMESPACE"}});
    for (const auto& lease : leases)
      table.add({lease.execution_id.to_string(),
                 lease.worker_instance_id,
                 {relative_text(lease.expires_at_ms, now), lease.expires_at_ms <= now ? Colour::red : Colour::none},
                 std::to_string(lease.attempt_index),
                 std::to_string(lease.lease_epoch),
                 lease.lane_id,
                 lease.namespace_});
    table.print(globals.output);
  });
}

}  // namespace

void add_leases(Program& program) {
  auto words = std::make_shared<LeaseWords>();
  CLI::App* command =
      program.add(nullptr, "leases", "List who holds what, soonest expiry first", "  ff leases --worker host-4711-0a1b2c3d");
  command->add_option("--worker", words->worker, "Of this worker instance");
  command->add_option("--namespace", words->namespace_, "Of this namespace");
  command->add_flag("--expired", words->expired, "Only those that ran out and were not noticed yet");
  command->add_option("--limit", words->limit, "How many at most, up to 10000")->capture_default_str();
  command->add_option("--cursor", words->cursor, "Go on where a list ended");
  program.on(command, [&globals = program.globals, words] { return run_leases(globals, *words); });
}

}  // namespace ff::cli
