// Commands that show one execution.

#include "cli/blob.h"
#include "cli/commands.h"
#include "cli/execution_view.h"
#include "cli/format.h"
#include "cli/table.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

Result<Fabric> open_to_look(Globals& globals, const std::string& id_text, ExecutionId& id) {
  auto parsed = ExecutionId::parse(id_text);
  if (!parsed) return std::unexpected(parsed.error());
  id = *parsed;
  return open_fabric(globals, Use::look);
}

Result<int> run_get(Globals& globals, const std::string& id_text) {
  ExecutionId id;
  auto fabric = open_to_look(globals, id_text, id);
  if (!fabric) return std::unexpected(fabric.error());
  auto execution = fabric->get(id);
  if (!execution) return std::unexpected(execution.error());
  if (globals.output.json()) return print_document(globals, *execution);
  auto info = fabric->info();
  if (!info) return std::unexpected(info.error());
  show_execution(globals.output, *execution, info->server_time_ms);
  return kDone;
}

Result<int> run_why(Globals& globals, const std::string& id_text) {
  ExecutionId id;
  auto fabric = open_to_look(globals, id_text, id);
  if (!fabric) return std::unexpected(fabric.error());
  auto execution = fabric->get(id);
  if (!execution) return std::unexpected(execution.error());
  if (globals.output.json()) return print_document(globals, execution->why);
  globals.output.line(printable(execution->why.text));
  return kDone;
}

Result<int> run_attempts(Globals& globals, const std::string& id_text) {
  ExecutionId id;
  auto fabric = open_to_look(globals, id_text, id);
  if (!fabric) return std::unexpected(fabric.error());
  ListAttempts query{.execution_id = id, .limit = kPage};
  std::vector<Attempt> attempts;
  while (true) {
    auto page = fabric->attempts(query);
    if (!page) return std::unexpected(page.error());
    attempts.insert(attempts.end(), page->items.begin(), page->items.end());
    if (!page->next_cursor) break;
    query.after_index = attempts.back().attempt_index;
  }
  if (globals.output.json()) return print_document(globals, attempts);
  auto info = fabric->info();
  if (!info) return std::unexpected(info.error());
  show_attempts(globals.output, attempts, info->server_time_ms);
  return kDone;
}

Result<int> run_history(Globals& globals, const std::string& id_text) {
  ExecutionId id;
  auto fabric = open_to_look(globals, id_text, id);
  if (!fabric) return std::unexpected(fabric.error());
  ReadHistory query{.execution_id = id, .limit = kPage};
  std::vector<Event> events;
  while (true) {
    auto page = fabric->history(query);
    if (!page) return std::unexpected(page.error());
    events.insert(events.end(), page->items.begin(), page->items.end());
    if (!page->next_cursor) break;
    query.cursor = *page->next_cursor;
  }
  if (globals.output.json()) return print_document(globals, events);
  show_events(globals.output, events);
  return kDone;
}

using BlobOf = Result<std::optional<Blob>> (Fabric::*)(const ExecutionId&) const;

Result<int> run_blob(Globals& globals, const std::string& id_text, BlobOf blob_of, std::string_view what) {
  ExecutionId id;
  auto fabric = open_to_look(globals, id_text, id);
  if (!fabric) return std::unexpected(fabric.error());
  auto blob = ((*fabric).*blob_of)(id);
  if (!blob) return std::unexpected(blob.error());
  if (!*blob) {
    globals.output.error_line(fmt::format("ff: {} has no {}.", id.to_string(), what));
    return kNotFound;
  }
  if (!globals.output.json()) {
    globals.output.raw((*blob)->bytes);
    return kDone;
  }
  core::json::object object;
  object["content_type"] = (*blob)->content_type;
  object["bytes"] = (*blob)->bytes.size();
  object[what] = blob_value(**blob);
  globals.output.document(object);
  return kDone;
}

}  // namespace

void add_look(Program& program) {
  Globals& globals = program.globals;
  auto add = [&](const std::string& name, const std::string& what, const std::string& example, auto run) {
    auto id = std::make_shared<std::string>();
    CLI::App* command = program.add(nullptr, name, what, example);
    command->add_option("ID", *id, "The execution, as {fp:N}:<uuid>")->required();
    program.on(command, [&globals, id, run] { return run(globals, *id); });
  };
  const std::string id = "'{fp:88}:550e8400-e29b-41d4-a716-446655440000'";
  add("get", "Show everything that is known of an execution", "  ff get " + id, run_get);
  add("why", "Say in a sentence why an execution is not moving", "  ff why " + id, run_why);
  add("attempts", "List the attempts of an execution", "  ff attempts " + id, run_attempts);
  add("history", "List what happened to an execution, oldest first", "  ff history " + id, run_history);
  add("result", "Write the result of an execution to standard output, byte for byte", "  ff result " + id + " | jq .",
      [](Globals& g, const std::string& text) { return run_blob(g, text, &Fabric::result, "result"); });
  add("payload", "Write the payload of an execution to standard output, byte for byte",
      "  ff payload " + id + " > job.json",
      [](Globals& g, const std::string& text) { return run_blob(g, text, &Fabric::payload, "payload"); });
}

}  // namespace ff::cli
