#include "cli/command.h"

#include "api/embedded.h"
#include "cli/format.h"

#include <CLI/CLI.hpp>

#include <pwd.h>
#include <unistd.h>

#include <climits>

namespace ff::cli {

CLI::App* Program::add(CLI::App* parent, const std::string& name, const std::string& what, const std::string& example) {
  CLI::App* command = (parent ? parent : &app)->add_subcommand(name, what);
  command->fallthrough();
  command->footer("Example:\n" + example + "\n");
  return command;
}

void Program::on(CLI::App* command, Action action) {
  command->callback([this, command, action = std::move(action)] {
    if (command->get_subcommands().empty()) chosen = action;
  });
}

void Program::takes_rest(CLI::App* command) {
  command->preparse_callback([this](std::size_t) { rest_taken = true; });
}

OpenOptions open_options(Globals& globals, Use use) {
  OpenOptions options;
  options.accept_stored_counts = true;
  options.create = use == Use::create || use == Use::follow;
  options.auto_migrate = options.create;
  options.sweeps = use == Use::follow;
  options.log = [&output = globals.output, sweeps = options.sweeps](LogLevel level, std::string_view message,
                                                                    std::span<const LogField> fields) {
    // That sweeps are off in a command that only passes through is as it should be.
    const bool of_sweep = std::any_of(fields.begin(), fields.end(), [](const LogField& f) { return f.name == "sweep"; });
    if (level < LogLevel::warn || (of_sweep && !sweeps)) return;
    std::string text = fmt::format("ff: {}: {}", level == LogLevel::warn ? "warning" : "error", printable(message));
    for (const auto& field : fields) text += fmt::format(" {}={}", field.name, printable(field.value));
    output.error_line(text);
  };
  return options;
}

Result<Fabric> open_fabric(Globals& globals, Use use) { return open(globals.store, open_options(globals, use)); }

Result<engine::Engine*> engine_of(const Fabric& fabric) {
  auto* embedded = dynamic_cast<api::EmbeddedBackend*>(fabric.backend().get());
  if (!embedded)
    return std::unexpected(core::invalid_input("store", "remote", "This command works on a store, not on a server."));
  return &embedded->engine();
}

std::string caller_identity() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  const passwd* user = getpwuid(geteuid());
  return fmt::format("{}@{}", user && user->pw_name ? user->pw_name : std::to_string(geteuid()), host);
}

}  // namespace ff::cli
