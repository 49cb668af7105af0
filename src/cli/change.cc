// Operator commands on one execution.

#include "cli/commands.h"
#include "cli/values.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

/// Opens the store and makes one change to one execution.
template <class Change>
Result<int> change(Globals& globals, const std::string& id_text, Change make) {
  auto id = ExecutionId::parse(id_text);
  if (!id) return std::unexpected(id.error());
  auto fabric = open_fabric(globals, Use::change);
  if (!fabric) return std::unexpected(fabric.error());
  return make(*fabric, *id);
}

int tell(Globals& globals, const Changed& changed) {
  if (globals.output.json()) return print_document(globals, changed);
  const std::string state(core::name_of(changed.public_state));
  globals.output.line(fmt::format("{}  {}", changed.execution_id.to_string(),
                                  globals.output.paint(state, colour_of(changed.public_state))));
  return kDone;
}

void add_priority(Program& program) {
  struct Words {
    std::string id;
    std::int32_t priority = 0;
  };
  auto words = std::make_shared<Words>();
  CLI::App* command = program.add(nullptr, "priority", "Change the priority of an execution",
                                  "  ff priority '{fp:88}:550e8400-e29b-41d4-a716-446655440000' 5000");
  command->add_option("ID", words->id, "The execution")->required();
  command->add_option("N", words->priority, "0 to 9000; higher is earlier")->required();
  program.on(command, [&globals = program.globals, words] {
    return change(globals, words->id, [&](const Fabric& fabric, const ExecutionId& id) -> Result<int> {
      auto changed = fabric.change_priority(id, words->priority);
      if (!changed) return std::unexpected(changed.error());
      if (globals.output.json()) return print_document(globals, *changed);
      globals.output.line(fmt::format("{}  priority {} -> {}", id.to_string(), changed->old_priority, changed->new_priority));
      return kDone;
    });
  });
}

void add_revoke(Program& program) {
  struct Words {
    std::string id;
    std::optional<std::string> worker, reason;
  };
  auto words = std::make_shared<Words>();
  CLI::App* command = program.add(nullptr, "revoke", "Take the lease away from a worker; another one may take over",
                                  "  ff revoke '{fp:88}:550e8400-e29b-41d4-a716-446655440000' --reason 'host is down'");
  command->add_option("ID", words->id, "The execution")->required();
  command->add_option("--worker", words->worker, "Only when this worker instance holds it");
  command->add_option("--reason", words->reason, "Kept with the execution");
  program.on(command, [&globals = program.globals, words] {
    return change(globals, words->id, [&](const Fabric& fabric, const ExecutionId& id) -> Result<int> {
      auto revoked = fabric.revoke_lease({.execution_id = id, .worker_instance_id = words->worker, .reason = words->reason});
      if (!revoked) return std::unexpected(revoked.error());
      if (globals.output.json()) return print_document(globals, *revoked);
      globals.output.line(revoked->lease_id
                              ? fmt::format("{}  revoked, lease epoch {}", id.to_string(), revoked->lease_epoch)
                              : fmt::format("{}  nothing to revoke: {}", id.to_string(), revoked->already_satisfied));
      return kDone;
    });
  });
}

void add_complete(Program& program) {
  struct Words {
    std::string id;
    std::optional<std::string> result, content_type, reason;
  };
  auto words = std::make_shared<Words>();
  CLI::App* command = program.add(nullptr, "complete", "End an execution as completed, by hand",
                                  "  ff complete '{fp:88}:550e8400-e29b-41d4-a716-446655440000' --result '{\"ok\": true}'");
  command->add_option("ID", words->id, "The execution")->required();
  command->add_option("--result", words->result, "Its result: a text, @file, or - for standard input");
  command->add_option("--content-type", words->content_type, "Of the result (default: application/json)");
  command->add_option("--reason", words->reason, "Kept with the event");
  program.on(command, [&globals = program.globals, words] {
    return change(globals, words->id, [&](const Fabric& fabric, const ExecutionId& id) -> Result<int> {
      OperatorComplete request{.execution_id = id, .content_type = words->content_type, .reason = words->reason};
      if (words->result) {
        auto bytes = read_bytes(*words->result);
        if (!bytes) return std::unexpected(bytes.error());
        request.result = std::move(*bytes);
      }
      auto changed = fabric.operator_complete(std::move(request));
      if (!changed) return std::unexpected(changed.error());
      return tell(globals, *changed);
    });
  });
}

void add_fail(Program& program) {
  struct Words {
    std::string id, message = "failed by an operator";
    std::optional<std::string> category, reason;
  };
  auto words = std::make_shared<Words>();
  CLI::App* command = program.add(nullptr, "fail", "End an execution as failed, by hand; it is not retried",
                                  "  ff fail '{fp:88}:550e8400-e29b-41d4-a716-446655440000' --message 'customer left'");
  command->add_option("ID", words->id, "The execution")->required();
  command->add_option("--message", words->message, "Why it failed")->capture_default_str();
  command->add_option("--category", words->category, "The kind of failure (default: operator)");
  command->add_option("--reason", words->reason, "Kept with the event");
  program.on(command, [&globals = program.globals, words] {
    return change(globals, words->id, [&](const Fabric& fabric, const ExecutionId& id) -> Result<int> {
      auto changed = fabric.operator_fail({id, words->message, words->category, words->reason});
      if (!changed) return std::unexpected(changed.error());
      return tell(globals, *changed);
    });
  });
}

void add_tag(Program& program) {
  struct Words {
    std::string id;
    std::vector<std::string> changes;
  };
  auto words = std::make_shared<Words>();
  CLI::App* command = program.add(nullptr, "tag", "Set and remove tags of an execution",
                                  "  ff tag '{fp:88}:550e8400-e29b-41d4-a716-446655440000' owner=ada stale-");
  command->add_option("ID", words->id, "The execution")->required();
  command->add_option("CHANGE", words->changes, "key=value sets, key- removes")->required();
  program.on(command, [&globals = program.globals, words]() -> Result<int> {
    std::map<std::string, std::optional<std::string>> tags;
    for (const auto& word : words->changes) {
      auto parsed = parse_tag_change(word);
      if (!parsed) return std::unexpected(parsed.error());
      tags.insert_or_assign(std::move(parsed->first), std::move(parsed->second));
    }
    return change(globals, words->id, [&](const Fabric& fabric, const ExecutionId& id) -> Result<int> {
      auto changed = fabric.set_tags(id, tags);
      if (!changed) return std::unexpected(changed.error());
      return tell(globals, *changed);
    });
  });
}

void add_delete(Program& program) {
  auto id_text = std::make_shared<std::string>();
  CLI::App* command = program.add(nullptr, "delete", "Remove an execution that has ended; its events stay",
                                  "  ff delete '{fp:88}:550e8400-e29b-41d4-a716-446655440000'");
  command->add_option("ID", *id_text, "The execution")->required();
  program.on(command, [&globals = program.globals, id_text] {
    return change(globals, *id_text, [&](const Fabric& fabric, const ExecutionId& id) -> Result<int> {
      auto removed = fabric.remove(id);
      if (!removed) return std::unexpected(removed.error());
      core::json::object document;
      document["execution_id"] = id.to_string();
      document["deleted"] = true;
      if (globals.output.json())
        globals.output.document(document);
      else
        globals.output.line(fmt::format("{}  deleted", id.to_string()));
      return kDone;
    });
  });
}

}  // namespace

void add_change(Program& program) {
  add_priority(program);
  add_revoke(program);
  add_complete(program);
  add_fail(program);
  add_tag(program);
  add_delete(program);
}

}  // namespace ff::cli
