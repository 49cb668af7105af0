#include "cli/commands.h"
#include "cli/signals.h"
#include "log/line_log.h"
#include "log/log.h"
#include "server/boot/service.h"
#include "server/setting_table.h"

#include <CLI/CLI.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

extern char** environ;

namespace ff::cli {
namespace {

constexpr std::int64_t kStepMs = 250;  ///< how long a call that asks for the end may go unnoticed
constexpr int kStepsPerLook = 4;
constexpr rlim_t kSpareFiles = 100;    ///< beside connections: the store, the log

std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return std::unexpected(core::invalid_input("file", "unreadable", "it cannot be opened."));
  return text;
}

server::SettingSources sources_of(std::vector<std::string> flags) {
  server::SettingSources sources;
  sources.flags = std::move(flags);
  for (char** each = environ; *each; ++each) {
    const std::string_view entry = *each;
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos) sources.environment.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  sources.read_file = read_file;
  return sources;
}

LogSink log_of(const server::Settings& settings) {
  LineLogOptions options;
  const bool is_text = settings.log_format ? *settings.log_format == "text" : isatty(STDERR_FILENO) == 1;
  options.format = is_text ? LogFormat::text : LogFormat::json;
  constexpr std::string_view kLevels[] = {"trace", "debug", "info", "warn", "error"};
  const auto level = std::find(std::begin(kLevels), std::end(kLevels), settings.log_level);
  options.least = static_cast<LogLevel>(level - std::begin(kLevels));
  options.wall_ms = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  };
  options.write_line = write_to_stderr;
  return line_log(std::move(options));
}

/// Each connection is an open file.
void allow_files(const server::Settings& settings, const LogSink& log) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= settings.connections_max + kSpareFiles) return;
  Log(log).warn("this process may open fewer files than connections_max allows connections",
                {{"files_max", std::to_string(limit.rlim_cur)}, {"connections_max", std::to_string(settings.connections_max)}});
}

/// A sentence that nobody should miss.
std::string boxed(const std::string& sentence) {
  constexpr std::size_t kWidth = 76;
  std::vector<std::string> lines(1);
  std::istringstream words("WARNING  " + sentence);
  for (std::string word; words >> word;) {
    if (lines.back().size() + word.size() + 1 > kWidth) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  const std::string edge = "+" + std::string(kWidth + 2, '-') + "+";
  std::string box = edge;
  for (const std::string& line : lines) box += fmt::format("\n| {:<{}} |", line, kWidth);
  return box + "\n" + edge;
}

void warn_of_weakness(Globals& globals, const server::Service& service, const LogSink& log) {
  const auto weakness = service.weakness();
  if (!weakness) return;
  if (globals.output.err_is_terminal())
    globals.output.error_line(boxed(*weakness));
  else
    Log(log).warn(*weakness);
}

/// Whatever has to end the server: a signal, or a call that asks for it.
void run_until_asked_to_end(server::Service& service, const SignalQueue& signals) {
  for (int steps = 1; !service.is_asked_to_end(); ++steps) {
    const auto signal = signals.wait(kStepMs);
    if (signal == SIGHUP) service.reload();
    if (signal == SIGTERM || signal == SIGINT) return;
    if (steps % kStepsPerLook == 0) service.look();
  }
}

/// A second signal ends the process at once: nothing that was acknowledged is lost by it.
int drain(server::Service& service, const SignalQueue& signals, const LogSink& log) {
  Log(log).info("shutting down");
  std::atomic<int> outcome = -1;
  std::jthread draining([&] { outcome = service.drain() ? 1 : 0; });
  while (outcome < 0) {
    const auto signal = signals.wait(kStepMs / 5);
    if (signal == SIGTERM || signal == SIGINT) std::_Exit(kFailed);
  }
  draining.join();
  if (outcome == 0) std::_Exit(kDone);  // a store that does not answer holds up nobody
  Log(log).info("ended");
  return kDone;
}

/// `ff --store URL serve` means the same as `ff serve --store URL`. A variable is the settings' own to read.
std::optional<std::string> store_before(const Globals& globals, const std::vector<std::string>& flags) {
  const char* variable = std::getenv("FF_STORE");
  const bool is_given = globals.store != (variable ? variable : Globals().store);
  const bool is_given_after = std::any_of(flags.begin(), flags.end(), [](const std::string& flag) { return flag.starts_with("--store="); });
  return is_given && !is_given_after ? std::optional(globals.store) : std::nullopt;
}

int refuse(Globals& globals, int code, const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) globals.output.error_line("ff: " + sentence);
  return code;
}

Result<int> run_serve(Globals& globals, std::vector<std::string> flags) {
  auto loaded = server::load_settings(sources_of(std::move(flags)));
  if (!loaded) return refuse(globals, kUsage, loaded.error());
  if (loaded->check) {
    globals.output.raw(server::settings_text(*loaded));
    // Whether a token is stored is known to the store only.
    if (const auto unsafe = server::check_safety(loaded->settings))
      globals.output.error_line("ff: it will start only if the store has a token: " + unsafe->sentence);
    return kDone;
  }
  const SignalQueue signals({SIGTERM, SIGINT, SIGHUP});
  const LogSink log = log_of(loaded->settings);
  allow_files(loaded->settings, log);
  bool is_told_to_stop = false;
  auto pause = [&](std::int64_t ms) {
    const auto signal = signals.wait(ms);
    is_told_to_stop = signal && *signal != SIGHUP;
    return !is_told_to_stop;
  };
  auto service = server::Service::start(*loaded, {log, pause});
  if (is_told_to_stop) return kDone;
  if (!service) return refuse(globals, service.error().exit_code, {service.error().sentence});
  warn_of_weakness(globals, **service, log);
  globals.output.line((*service)->description());
  (void)globals.output.flush();
  run_until_asked_to_end(**service, signals);
  return drain(**service, signals, log);
}

}  // namespace

void add_serve(Program& program) {
  CLI::App* command = program.add(
      nullptr, "serve",
      "Serve the HTTP API over a store.\n"
      "Each setting is a flag, a variable (FF_LEASE_TTL_MS) or a name in the file of --config, TOML or JSON; the first\n"
      "place that has it counts. SIGTERM or Ctrl-C shuts down in order, a second one at once; SIGHUP reads certificates.\n"
      "Exit codes: 0 ended, 1 the store or an address failed, 2 wrong settings, 4 refused by a safety rule.",
      "  ff serve --store postgres://app@db/flow --listen 0.0.0.0:9090 --api-token-file token\n"
      "  ff serve --check");
  auto given = std::make_shared<std::vector<std::pair<std::string, CLI::Option*>>>();
  // Values are read and judged by the settings themselves; here they only get their places in the help.
  auto add = [&](const std::string& name, const std::string& what) {
    auto* option = command->add_option(flag_of(name), what)->expected(0, 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    given->emplace_back(name, option);
  };
  auto check = std::make_shared<bool>(false);
  command->add_flag("--check", *check, "Print the settings that count, with their places, and start nothing");
  add("config", "The file with settings");
  for (const server::Setting& setting : server::setting_table()) {
    std::string rule = setting.rule.substr(std::string_view("has to be ").size());
    add(setting.name, rule + (setting.is_without_effect ? "; no effect in this version" : ""));
    if (setting.is_secret) add(setting.name + "_file", "a file that holds it");
  }
  // What is unknown stays here, to be refused with the nearest name.
  command->fallthrough(false);
  command->allow_extras();
  program.on(command, [&program, command, given, check] {
    std::vector<std::string> flags = command->remaining();
    for (const auto& [name, option] : *given) {
      // A flag that stands alone has an empty value here.
      for (const std::string& value : option->results()) flags.push_back(flag_of(name) + (value.empty() ? "" : "=" + value));
    }
    if (const auto before = store_before(program.globals, flags)) flags.push_back("--store=" + *before);
    if (*check) flags.emplace_back("--check");
    return run_serve(program.globals, std::move(flags));
  });
}

}  // namespace ff::cli
