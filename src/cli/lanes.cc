#include "cli/commands.h"
#include "cli/format.h"
#include "cli/table.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

Colour colour_of(LaneState state) {
  switch (state) {
    case LaneState::active: return Colour::green;
    case LaneState::paused:
    case LaneState::draining: return Colour::yellow;
    case LaneState::disabled: break;
  }
  return Colour::red;
}

Count blocked(const LaneCounts& depth) {
  Count sum;
  for (const Count& count : {depth.blocked_dependencies, depth.blocked_budget, depth.blocked_quota, depth.blocked_route}) {
    sum.value += count.value;
    sum.estimate = sum.estimate || count.estimate;
  }
  return sum;
}

Result<int> run_lanes(Globals& globals) {
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  ListLanes query{.limit = kPage};
  std::vector<LaneStatus> lanes;
  while (true) {
    auto page = fabric->lanes(query);
    if (!page) return std::unexpected(page.error());
    lanes.insert(lanes.end(), page->items.begin(), page->items.end());
    if (!page->next_cursor) break;
    query.cursor = *page->next_cursor;
  }
  if (globals.output.json()) return print_document(globals, lanes);
  using enum Table::Align;
  Table table({{"LANE"}, {"STATE"}, {"ELIGIBLE", right}, {"DELAYED", right}, {"BLOCKED", right}, {"ACTIVE", right},
               {"RECLAIMABLE", right}, {"SUSPENDED", right}, {"ENDED", right}, {"OLDEST WAITING", right}, {"WORKERS", right}, {"REASON"}});
  for (const auto& status : lanes) {
    const auto& [lane, depth] = std::tie(status.lane, status.depth);
    table.add({lane.lane_id,
               {std::string(core::name_of(lane.lane_state)), colour_of(lane.lane_state)},
               count_text(depth.eligible),
               count_text(depth.delayed),
               count_text(blocked(depth)),
               count_text(depth.active),
               count_text(depth.reclaimable),
               count_text(depth.suspended),
               count_text(depth.terminal),
               status.oldest_waiting_ms ? duration_text(*status.oldest_waiting_ms) : "",
               std::to_string(status.workers),
               printable(lane.state_reason.value_or(""), 60)});
  }
  table.print(globals.output);
  return kDone;
}

using LaneCall = Result<Lane> (Fabric::*)(const std::string&, std::optional<std::string>) const;

Result<int> run_change(Globals& globals, LaneCall call, const std::string& lane_id,
                       const std::optional<std::string>& reason) {
  auto fabric = open_fabric(globals, Use::change);
  if (!fabric) return std::unexpected(fabric.error());
  auto lane = ((*fabric).*call)(lane_id, reason);
  if (!lane) return std::unexpected(lane.error());
  if (globals.output.json()) return print_document(globals, *lane);
  globals.output.line(fmt::format("{}  {}", lane->lane_id,
                                  globals.output.paint(core::name_of(lane->lane_state), colour_of(lane->lane_state))));
  return kDone;
}

}  // namespace

void add_lanes(Program& program) {
  Globals& globals = program.globals;
  CLI::App* lanes = program.add(nullptr, "lanes", "List the lanes with what stands in them, or change one",
                                "  ff lanes\n  ff lanes pause imports --reason 'database is being moved'");
  lanes->require_subcommand(0, 1);
  program.on(lanes, [&globals] { return run_lanes(globals); });
  auto add = [&](const std::string& name, const std::string& what, LaneCall call) {
    struct Words {
      std::string lane;
      std::optional<std::string> reason;
    };
    auto words = std::make_shared<Words>();
    CLI::App* command = program.add(lanes, name, what, "  ff lanes " + name + " imports --reason 'moving day'");
    command->add_option("LANE", words->lane, "The lane")->required();
    command->add_option("--reason", words->reason, "Shown with the lane");
    program.on(command, [&globals, words, call] { return run_change(globals, call, words->lane, words->reason); });
  };
  add("pause", "Hand out no work of a lane; it still accepts submissions", &Fabric::pause_lane);
  add("resume", "Hand out work again", &Fabric::resume_lane);
  add("drain", "Accept no submissions; what is there is worked off", &Fabric::drain_lane);
}

}  // namespace ff::cli
