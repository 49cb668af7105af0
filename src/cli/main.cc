// The `ff` command.

#include "cli/commands.h"
#include "version.h"

#include <CLI/CLI.hpp>

#include <fcntl.h>

#include <csignal>

namespace {

using namespace ff::cli;

/// Everything after the first `--` is somebody else's command line, not ours to interpret.
std::vector<std::string> words_before_rest(int argc, char** argv, Globals& globals) {
  std::vector<std::string> words(argv + 1, argv + argc);
  auto mark = std::find(words.begin(), words.end(), "--");
  if (mark != words.end()) {
    globals.rest_given = true;
    globals.rest.assign(mark + 1, words.end());
    words.erase(mark, words.end());
  }
  std::reverse(words.begin(), words.end());  // the order in which CLI11 takes a vector
  return words;
}

int run(int argc, char** argv) {
  Globals globals;
  CLI::App app("FlowFabric: submit work, run workers, see what happens and why.", "ff");
  bool json = false;
  app.add_option("--store", globals.store,
                 "The store: sqlite:<path>, postgres://<user>@<host>/<database>, valkey://<host> or memory:;\n"
                 "or a server: http://<host>:<port>, https://<host>")
      ->envname("FF_STORE")
      ->capture_default_str();
  auto* token = app.add_option("--token", globals.token, "What a server asks for; in a file it is not seen by others")
                    ->envname("FF_TOKEN");
  app.add_option("--token-file", globals.token_file, "The file that holds it")->envname("FF_TOKEN_FILE")->excludes(token);
  app.add_option("--ca-file", globals.ca_file, "Certificates to trust with https; else those of the system");
  app.add_flag("--json", json, "Answer in JSON: one document, or one object per line for streams");
  app.set_version_flag("--version", std::string("ff ") + ff::kVersion);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer("Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 refused. `ff COMMAND --help` has an example.\n");

  Program program(app, globals);
  add_submit(program);
  add_look(program);
  add_list(program);
  add_bulk(program);
  add_change(program);
  add_lanes(program);
  add_leases(program);
  add_worker(program);
  add_workers(program);
  add_tail(program);
  add_audit(program);
  add_serve(program);
  add_dev(program);
  add_token(program);
  add_migrate(program);
  add_check(program);
  add_export(program);
  add_import(program);
  add_bench(program);
  add_completion(program);
  add_version(program);

  try {
    std::vector<std::string> words = words_before_rest(argc, argv, globals);
    globals.output.set_json(std::find(words.begin(), words.end(), "--json") != words.end());
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error), kDone;
    report(globals.output, ff::core::invalid_input("arguments", "usage",
                                                   fmt::format("{}. `ff --help` and `ff COMMAND --help` tell more.",
                                                               error.what())));
    return kUsage;
  }
  if (globals.rest_given && !program.rest_taken) {
    report(globals.output, ff::core::invalid_input("arguments", "usage", "Only `ff worker exec` takes words after `--`."));
    return kUsage;
  }
  auto ended = program.chosen();
  if (!globals.output.flush() && ended && *ended == kDone)
    ended = ff::core::fail(ff::ErrorCode::store_unavailable, "The answer could not be written to standard output.");
  if (ended) return *ended;
  report(globals.output, ended.error());
  return exit_code(ended.error());
}

}  // namespace

int main(int argc, char** argv) {
  // With a standard stream closed, the first file that is opened would be taken for it.
  for (int fd = 0; fd >= 0 && fd < 3;) fd = open("/dev/null", O_RDWR);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of writing, not the end of a worker
  return run(argc, argv);
}
