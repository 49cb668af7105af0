// A server to look at: a throw-away store, sample workers, sample work that keeps coming.

#include "cli/commands.h"
#include "cli/dev_samples.h"
#include "cli/format.h"
#include "cli/signals.h"
#include "server/boot/service.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <filesystem>

namespace ff::cli {
namespace {

constexpr const char* kUsualAddress = "127.0.0.1:9090";
constexpr const char* kAnyAddress = "127.0.0.1:0";
constexpr std::int64_t kStepMs = 250;
constexpr int kStepsPerLook = 4;

struct DevWords {
  std::optional<std::string> listen;
  std::optional<std::uint32_t> seconds;
};

/// A folder that goes with everything in it.
class ThrowAwayFolder {
 public:
  ThrowAwayFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "ff-dev-XXXXXX").string();
    if (mkdtemp(path.data())) path_ = path;
  }
  ~ThrowAwayFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ThrowAwayFolder(const ThrowAwayFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

using Started = std::expected<std::unique_ptr<server::Service>, server::BootFailure>;

Started start_at(const std::string& store, const std::string& address, const LogSink& log) {
  server::SettingSources sources;
  sources.flags = {"--store=" + store, "--listen=" + address};
  auto loaded = server::load_settings(sources);
  if (!loaded) return std::unexpected(server::BootFailure{server::kWrongSettings, loaded.error().front()});
  return server::Service::start(*loaded, {log, {}});
}

/// At the usual address, or at a free one when that is taken.
Started start(const DevWords& words, const std::string& store, const LogSink& log) {
  if (words.listen) return start_at(store, *words.listen, log);
  auto service = start_at(store, kUsualAddress, log);
  return service ? std::move(service) : start_at(store, kAnyAddress, log);
}

void introduce(Globals& globals, const std::string& url, const std::string& store) {
  if (globals.output.json()) {
    globals.output.document({{"url", url}, {"docs", url + "/docs"}, {"store", store}});
  } else {
    globals.output.line(fmt::format("FlowFabric is at {}", globals.output.paint(url, Colour::bold)));
    globals.output.line(fmt::format("  its calls       {}/docs", url));
    globals.output.line(fmt::format("  what runs       curl '{}/v1/executions?limit=5'", url));
    globals.output.line(fmt::format("  who works       ff workers --store {}", store));
    globals.output.line(fmt::format("  what waits      ff list --state waiting --store {}", store));
    globals.output.remark("Sample work keeps coming. Ctrl-C ends it, and everything is thrown away.");
  }
  (void)globals.output.flush();
}

void run_for(server::Service& service, const SignalQueue& signals, std::optional<std::uint32_t> seconds) {
  const auto begin = std::chrono::steady_clock::now();
  for (int steps = 1; !service.is_asked_to_end(); ++steps) {
    if (signals.wait(kStepMs)) return;
    if (seconds && std::chrono::steady_clock::now() - begin >= std::chrono::seconds(*seconds)) return;
    if (steps % kStepsPerLook == 0) service.look();
  }
}

Result<int> run_dev(Globals& globals, const DevWords& words) {
  const SignalQueue signals({SIGTERM, SIGINT});
  const ThrowAwayFolder folder;
  if (folder.path().empty())
    return core::fail(ErrorCode::store_unavailable, "No temporary folder can be made; set TMPDIR to one that can be written.");
  const std::string store = "sqlite:" + (folder.path() / "dev.db").string();
  // Whoever only looks is not told what matters to those who run a server.
  const LogSink log = [&globals](LogLevel level, std::string_view message, std::span<const LogField>) {
    if (level >= LogLevel::error) globals.output.error_line(fmt::format("ff: {}", printable(message)));
  };
  auto service = start(words, store, log);
  if (!service) {
    globals.output.error_line("ff: " + service.error().sentence);
    return service.error().exit_code;
  }
  {
    const Samples samples((*service)->fabric());
    introduce(globals, (*service)->addresses().front(), store);
    run_for(**service, signals, words.seconds);
  }
  if (!(*service)->drain()) std::_Exit(kDone);  // a store that does not answer holds up nobody
  return kDone;
}

}  // namespace

void add_dev(Program& program) {
  auto words = std::make_shared<DevWords>();
  CLI::App* command = program.add(nullptr, "dev",
                                  "Something to look at in five seconds: a server on a throw-away store, with sample\n"
                                  "workers and work that keeps coming. Ends with Ctrl-C; --store does not count here",
                                  "  ff dev");
  command->add_option("--listen", words->listen,
                      "host:port; 127.0.0.1:9090 when not given, or a free port when that is taken");
  command->add_option("--seconds", words->seconds, "End after so long");
  program.on(command, [&globals = program.globals, words] { return run_dev(globals, *words); });
}

}  // namespace ff::cli
