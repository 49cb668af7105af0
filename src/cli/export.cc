#include "cli/commands.h"
#include "engine/engine.h"
#include "engine/transfer.h"

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace ff::cli {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

/// Made for its owner alone: an export holds payloads and the key that seals handles. An old file is never overwritten.
Result<File> create_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) return File(::fdopen(fd, "wb"));
  return std::unexpected(core::invalid_input(
      "out", "unwritable",
      fmt::format("The file '{}' cannot be made ({}). Give the name of a new file in a folder that exists.", path,
                  std::strerror(errno))));
}

Result<engine::Holdings> write_export(Globals& globals, std::FILE* file) {
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  auto engine = engine_of(*fabric);
  if (!engine) return std::unexpected(engine.error());
  auto unwritten = [] {
    return core::fail(ErrorCode::store_unavailable,
                      fmt::format("The export could not be written ({}). Make room and export again.", std::strerror(errno)));
  };
  auto sink = [&](std::string_view line) -> Result<void> {
    if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fputc('\n', file) == EOF) return unwritten();
    return {};
  };
  auto written = engine::export_data_set((*engine)->store(), (*engine)->dataset(), sink);
  if (!written) return written;
  // Whoever removes the store after a good end must find the file on the disk.
  const bool kept = std::fflush(file) == 0 && (file == stdout || ::fsync(::fileno(file)) == 0);
  if (!kept) return unwritten();
  return written;
}

Result<int> run_export(Globals& globals, const std::string& path) {
  if (auto refused = refuse_server(globals)) return std::unexpected(*refused);
  const bool to_stdout = path == "-";
  File file;
  if (!to_stdout) {
    auto made = create_file(path);
    if (!made) return std::unexpected(made.error());
    file = std::move(*made);
  }
  auto written = write_export(globals, to_stdout ? stdout : file.get());
  if (!written) {
    if (!to_stdout) ::unlink(path.c_str());  // a part of an export is worth nothing
    return std::unexpected(written.error());
  }
  const std::string summary =
      fmt::format("Exported {} executions, {} lanes, {} keys, {} tokens, {} events.", written->executions,
                  written->lanes, written->keys, written->tokens, written->events);
  if (to_stdout) {
    globals.output.remark(summary);
  } else if (globals.output.json()) {
    core::json::object document;
    document["file"] = path;
    document["executions"] = written->executions;
    document["lanes"] = written->lanes;
    document["keys"] = written->keys;
    document["tokens"] = written->tokens;
    document["tokens"] = written->tokens;
    document["events"] = written->events;
    globals.output.document(document);
  } else {
    globals.output.line(summary);
  }
  return kDone;
}

}  // namespace

void add_export(Program& program) {
  auto path = std::make_shared<std::string>("-");
  CLI::App* command = program.add(nullptr, "export", "Write a whole data set to one file, for `ff import` into another store",
                                  "  ff export --store sqlite:flow.db --out flow.jsonl");
  command->add_option("--out", *path, "A new file, or - for standard output")->capture_default_str();
  program.on(command, [&globals = program.globals, path] { return run_export(globals, *path); });
}

}  // namespace ff::cli
