#include "cli/command.h"

#include "api/embedded.h"
#include "cli/format.h"
#include "client/endpoint.h"

#include <CLI/CLI.hpp>

#include <pwd.h>
#include <unistd.h>

#include <climits>
#include <fstream>

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

namespace {

/// The token for a server: as given, or the first line of its file.
Result<std::optional<std::string>> token_of(const Globals& globals) {
  if (globals.token || !globals.token_file) return globals.token;
  std::ifstream file(*globals.token_file);
  std::string token;
  if (!std::getline(file, token))
    return std::unexpected(core::invalid_input("token-file", "unreadable",
                                               fmt::format("No token can be read from {}.", printable(*globals.token_file))));
  if (token.ends_with('\r')) token.pop_back();
  return token;
}

}  // namespace

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

Result<Fabric> open_fabric(Globals& globals, Use use) {
  OpenOptions options = open_options(globals, use);
  if (client::is_server_url(globals.store)) {
    auto token = token_of(globals);
    if (!token) return std::unexpected(token.error());
    options.api_token = std::move(*token);
    options.ca_file = globals.ca_file;
  }
  return open(globals.store, std::move(options));
}

std::optional<Error> refuse_server(const Globals& globals) {
  if (!client::is_server_url(globals.store)) return std::nullopt;
  return core::invalid_input("store", "remote",
                             "This command works on a store itself, not through a server. Give it the --store that the server "
                             "was started with, on a machine that can reach it.");
}

Result<engine::Engine*> engine_of(const Fabric& fabric) {
  auto* embedded = dynamic_cast<api::EmbeddedBackend*>(fabric.backend().get());
  if (!embedded)
    return std::unexpected(core::invalid_input("store", "remote", "This command works on a store itself, not through a server."));
  return &embedded->engine();
}

std::string caller_identity() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  const passwd* user = getpwuid(geteuid());
  return fmt::format("{}@{}", user && user->pw_name ? user->pw_name : std::to_string(geteuid()), host);
}

}  // namespace ff::cli
