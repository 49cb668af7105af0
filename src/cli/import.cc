#include "cli/commands.h"
#include "cli/format.h"
#include "engine/transfer.h"
#include "store/open_store.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>

namespace ff::cli {
namespace {

/// A line is an execution with its payload, result and history; what is longer is no export.
constexpr std::size_t kLineBytesMax = 1ULL << 30;

engine::LineSource lines_of(std::istream& stream) {
  return [&stream]() -> Result<std::optional<std::string>> {
    std::string line;
    auto* buffer = stream.rdbuf();
    for (int c = buffer->sbumpc(); c != '\n'; c = buffer->sbumpc()) {
      if (c == std::char_traits<char>::eof()) return line.empty() ? std::nullopt : std::optional(std::move(line));
      if (line.size() == kLineBytesMax)
        return std::unexpected(core::invalid_input("in", "not_an_export", "A line is too long for an export."));
      line.push_back(static_cast<char>(c));
    }
    return line;
  };
}

std::string random_mark() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

Result<engine::Holdings> read_import(Globals& globals, std::istream& stream) {
  store::StoreOptions options;
  options.warn = [&globals](std::string_view message) {
    globals.output.error_line(fmt::format("ff: warning: {}", printable(message)));
  };
  auto store = store::open_store(globals.store, options);
  if (!store) return std::unexpected(store.error());
  engine::ImportOptions import;
  import.mark = random_mark();
  import.pause = [](std::uint32_t wait_ms) { std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms)); };
  return engine::import_data_set(**store, lines_of(stream), import);
}

Result<int> run_import(Globals& globals, const std::string& path) {
  if (auto refused = refuse_server(globals)) return std::unexpected(*refused);
  Result<engine::Holdings> read;
  if (path == "-") {
    read = read_import(globals, std::cin);
  } else {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      return std::unexpected(core::invalid_input("in", "unreadable", fmt::format("The file '{}' cannot be read.", path)));
    // A file is read twice: what is wrong with it is found before the store is touched.
    if (auto checked = engine::check_export(lines_of(file)); !checked) return std::unexpected(checked.error());
    file.clear();
    file.seekg(0);
    read = read_import(globals, file);
  }
  if (!read) return std::unexpected(read.error());
  if (globals.output.json()) {
    core::json::object document;
    document["executions"] = read->executions;
    document["lanes"] = read->lanes;
    document["keys"] = read->keys;
    document["tokens"] = read->tokens;
    document["tokens"] = read->tokens;
    document["events"] = read->events;
    globals.output.document(document);
  } else {
    globals.output.line(fmt::format("Imported {} executions, {} lanes, {} keys, {} tokens, {} events; all of them verified.",
                                    read->executions, read->lanes, read->keys, read->tokens, read->events));
  }
  return kDone;
}

}  // namespace

void add_import(Program& program) {
  auto path = std::make_shared<std::string>("-");
  CLI::App* command = program.add(nullptr, "import", "Make the data set of an export in an empty store",
                                  "  ff import --store sqlite:new.db --in flow.jsonl");
  command->add_option("--in", *path, "The file that `ff export` wrote, or - for standard input")->capture_default_str();
  program.on(command, [&globals = program.globals, path] { return run_import(globals, *path); });
}

}  // namespace ff::cli
