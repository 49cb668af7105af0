#include "cli/commands.h"
#include "cli/format.h"
#include "cli/table.h"
#include "engine/engine.h"
#include "version.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

/// What a check found out.
struct Report {
  store::StoreInfo store;
  core::Dataset dataset;
  FabricInfo info;
  std::vector<std::string> findings;
  std::vector<std::string> remarks;
};

/// A lease that ran out this long ago should have been noticed by somebody's sweep.
constexpr TimeMs kUnnoticedMs = 10'000;

Result<Report> examine(const Fabric& fabric, std::uint32_t findings_max) {
  auto engine = engine_of(fabric);
  if (!engine) return std::unexpected(engine.error());
  Report report;
  auto info = fabric.info();
  if (!info) return std::unexpected(info.error());
  report.info = std::move(*info);
  report.store = (*engine)->store().info();
  report.dataset = (*engine)->dataset();
  if (report.info.durability != Durability::full)
    report.findings.push_back(fmt::format("durability is {}: {}", core::name_of(report.info.durability),
                                          report.info.durability_detail));
  auto lapsed = fabric.leases({.expired_before_ms = report.info.server_time_ms - kUnnoticedMs, .limit = 1});
  if (!lapsed) return std::unexpected(lapsed.error());
  if (!lapsed->items.empty())
    report.remarks.push_back(fmt::format("a lease ran out {} and nobody has noticed: no process with sweeps is running",
                                         relative_text(lapsed->items.front().expires_at_ms, report.info.server_time_ms)));
  auto reader = (*engine)->store().open_reader();
  if (!reader) return std::unexpected(reader.error());
  auto faults = (*reader)->verify(findings_max);
  if (!faults) return std::unexpected(faults.error());
  report.findings.insert(report.findings.end(), faults->begin(), faults->end());
  return report;
}

core::json::object to_json(const Report& report) {
  core::json::object store, settings, dataset, document;
  store["kind"] = report.store.kind;
  store["version"] = report.store.version;
  for (const auto& [name, value] : report.store.settings) settings[name] = value;
  store["settings"] = std::move(settings);
  store["schema_version"] = report.store.schema.empty() ? 0 : report.store.schema.back().version;
  dataset["data_set_id"] = report.dataset.data_set_id.to_string();
  dataset["flow_partitions"] = report.dataset.partitioning.num_flow_partitions;
  dataset["budget_partitions"] = report.dataset.partitioning.num_budget_partitions;
  dataset["quota_partitions"] = report.dataset.partitioning.num_quota_partitions;
  dataset["lane_spread"] = report.dataset.partitioning.lane_spread;
  dataset["created_at_ms"] = report.dataset.created_at_ms;
  dataset["engine_version"] = report.dataset.engine_version;
  document["version"] = kVersion;
  document["store"] = std::move(store);
  document["durability"] = core::name_of(report.info.durability);
  document["data_set"] = std::move(dataset);
  document["remarks"] = core::to_value(report.remarks);
  document["findings"] = core::to_value(report.findings);
  return document;
}

void show(Output& output, const Report& report) {
  Facts store("Store");
  store.add("kind", fmt::format("{} {}", report.store.kind, report.store.version));
  for (const auto& [name, value] : report.store.settings) store.add(name, value);
  store.add("durability", std::string(core::name_of(report.info.durability)),
            report.info.durability == Durability::full ? Colour::green : Colour::red);
  store.add("", report.info.durability_detail);
  store.print(output);
  Facts schema("Schema");
  for (const auto& step : report.store.schema)
    schema.add(std::to_string(step.version), fmt::format("{}, applied {}", step.name, time_text(step.applied_at_ms)));
  schema.print(output);
  Facts dataset("Data set");
  const auto& partitioning = report.dataset.partitioning;
  dataset.add("id", report.dataset.data_set_id.to_string());
  dataset.add("created", moment_text(report.dataset.created_at_ms, report.info.server_time_ms));
  dataset.add("made by", "version " + report.dataset.engine_version);
  dataset.add("partitions", fmt::format("{} flow, {} budget, {} quota", partitioning.num_flow_partitions,
                                        partitioning.num_budget_partitions, partitioning.num_quota_partitions));
  dataset.add("lane spread", std::to_string(partitioning.lane_spread));
  dataset.print(output);
  for (const auto& remark : report.remarks) output.line(fmt::format("{}: {}", output.paint("remark", Colour::yellow), remark));
  for (const auto& finding : report.findings)
    output.line(fmt::format("{}: {}", output.paint("finding", Colour::red), printable(finding)));
  if (report.findings.empty()) output.line(output.paint("Every record was walked; no findings.", Colour::green));
}

Result<int> run_check(Globals& globals, std::uint32_t findings_max) {
  if (auto refused = refuse_server(globals)) return std::unexpected(*refused);
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  auto report = examine(*fabric, findings_max);
  if (!report) return std::unexpected(report.error());
  if (globals.output.json())
    globals.output.document(to_json(*report));
  else
    show(globals.output, *report);
  return report->findings.empty() ? kDone : kFailed;
}

}  // namespace

void add_check(Program& program) {
  auto findings_max = std::make_shared<std::uint32_t>(100);
  CLI::App* command = program.add(nullptr, "check", "Verify a store: versions, durability, data set and every record",
                                  "  ff check --store sqlite:flow.db\n  ff check --store postgres://app@db.internal/flow");
  command->add_option("--findings", *findings_max, "How many findings to list at most")->capture_default_str();
  program.on(command, [&globals = program.globals, findings_max] { return run_check(globals, *findings_max); });
}

void add_version(Program& program) {
  CLI::App* command = program.add(nullptr, "version", "Print the version of this program", "  ff version");
  program.on(command, [&globals = program.globals]() -> Result<int> {
    core::json::object document;
    document["version"] = kVersion;
    if (globals.output.json())
      globals.output.document(document);
    else
      globals.output.line(fmt::format("ff {}", kVersion));
    return kDone;
  });
}

}  // namespace ff::cli
