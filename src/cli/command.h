#pragma once

// What all commands share: the global options, the store, and how a command becomes part of the program.

#include "cli/failure.h"
#include "cli/output.h"

#include <flowfabric/fabric.h>

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ff::engine {
class Engine;
}

namespace ff::cli {

/// Rows that a command asks for at a time.
inline constexpr std::uint32_t kPage = 500;

/// What stands for every command.
struct Globals {
  std::string store = "sqlite:flowfabric.db";  ///< or a server
  std::optional<std::string> token, token_file;  ///< for a server
  std::optional<std::string> ca_file;
  std::vector<std::string> rest;  ///< what followed `--`
  bool rest_given = false;
  Output output;
};

/// Runs a command; the exit code, or the error that is reported and decides it.
using Action = std::function<Result<int>()>;

/// The program while its commands are put together.
class Program {
 public:
  Program(CLI::App& root, Globals& shared) : app(root), globals(shared) {}

  /// Adds a command below `parent` with an example for its help. `parent` null: a command of the program itself.
  CLI::App* add(CLI::App* parent, const std::string& name, const std::string& what, const std::string& example);
  /// What runs when the command was chosen.
  void on(CLI::App* command, Action action);
  /// A command that takes words after `--`; others refuse them.
  void takes_rest(CLI::App* command);

  CLI::App& app;
  Globals& globals;
  Action chosen;
  bool rest_taken = false;
};

/// Why a command opens the store.
enum class Use {
  look,    ///< nothing is made, changed or swept
  change,  ///< a change to a data set that must be there
  create,  ///< makes the data set when there is none
  follow,  ///< the same, and stays a while: runs sweeps
};

/// How a command opens its store: with the counts that it has, and with warnings on standard error.
OpenOptions open_options(Globals& globals, Use use);
Result<Fabric> open_fabric(Globals& globals, Use use);
/// Why a command that works on a store itself cannot work on this one: it is a server.
std::optional<Error> refuse_server(const Globals& globals);
/// The engine behind a fabric of this process.
Result<engine::Engine*> engine_of(const Fabric& fabric);

/// `user@host`, for the records of who did what.
std::string caller_identity();

/// A lease, an execution and so on as a JSON document.
template <class T>
int print_document(Globals& globals, const T& value) {
  globals.output.document(core::to_value(value));
  return kDone;
}

}  // namespace ff::cli
