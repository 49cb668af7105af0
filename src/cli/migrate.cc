#include "cli/commands.h"
#include "cli/format.h"
#include "cli/table.h"
#include "engine/engine.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

struct MigrateWords {
  std::optional<std::uint16_t> flow_partitions, lane_spread;
};

Result<int> run_migrate(Globals& globals, const MigrateWords& words) {
  if (auto refused = refuse_server(globals)) return std::unexpected(*refused);
  OpenOptions options = open_options(globals, Use::create);
  // Numbers that are given count: a data set that has others is refused.
  options.accept_stored_counts = !words.flow_partitions && !words.lane_spread;
  options.flow_partitions = words.flow_partitions.value_or(options.flow_partitions);
  options.lane_spread = words.lane_spread.value_or(options.lane_spread);
  auto fabric = open(globals.store, std::move(options));
  if (!fabric) return std::unexpected(fabric.error());
  auto engine = engine_of(*fabric);
  if (!engine) return std::unexpected(engine.error());
  const store::StoreInfo store = (*engine)->store().info();
  const core::Dataset& dataset = (*engine)->dataset();

  std::vector<store::SchemaStep> applied;
  for (const auto& step : store.schema)
    if (step.version > store.schema_version_found) applied.push_back(step);
  const int version = store.schema.empty() ? 0 : store.schema.back().version;
  if (globals.output.json()) {
    core::json::array steps;
    for (const auto& step : applied) {
      core::json::object item;
      item["version"] = step.version;
      item["name"] = step.name;
      steps.push_back(std::move(item));
    }
    core::json::object document;
    document["store"] = store.kind;
    document["schema_version_before"] = store.schema_version_found;
    document["schema_version"] = version;
    document["applied"] = std::move(steps);
    document["data_set_id"] = dataset.data_set_id.to_string();
    document["flow_partitions"] = dataset.partitioning.num_flow_partitions;
    document["lane_spread"] = dataset.partitioning.lane_spread;
    globals.output.document(document);
    return kDone;
  }
  for (const auto& step : applied) globals.output.line(fmt::format("applied {:04} {}", step.version, step.name));
  globals.output.line(applied.empty()
                          ? fmt::format("Schema version {}: nothing to do.", version)
                          : fmt::format("Schema version {} -> {}.", store.schema_version_found, version));
  globals.output.line(fmt::format("Data set {}, {} partitions, lane spread {}.", dataset.data_set_id.to_string(),
                                  dataset.partitioning.num_flow_partitions, dataset.partitioning.lane_spread));
  return kDone;
}

}  // namespace

void add_migrate(Program& program) {
  auto words = std::make_shared<MigrateWords>();
  CLI::App* command = program.add(nullptr, "migrate", "Bring the schema of a store up to date; makes the data set if there is none",
                                  "  ff migrate --store sqlite:/var/lib/app/flow.db\n"
                                  "  ff migrate --store postgres://app@db.internal/flow");
  command->add_option("--flow-partitions", words->flow_partitions, "Of a new data set (default: 256); can never change");
  command->add_option("--lane-spread", words->lane_spread, "Of a new data set (default: 8); can never change");
  program.on(command, [&globals = program.globals, words] { return run_migrate(globals, *words); });
}

}  // namespace ff::cli
