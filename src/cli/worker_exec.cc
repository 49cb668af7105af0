#include "cli/worker_exec.h"

#include "cli/commands.h"
#include "cli/format.h"
#include "cli/values.h"

#include <flowfabric/worker.h>

#include <CLI/CLI.hpp>

#include <condition_variable>
#include <cstring>

namespace ff::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Handlers that are still at work, so that the program ends after them.
class Running {
 public:
  void enter() {
    std::lock_guard guard(mutex_);
    ++count_;
  }
  void leave() {
    std::lock_guard guard(mutex_);
    --count_;
    ended_.notify_all();
  }
  bool wait(std::chrono::milliseconds at_most) {
    std::unique_lock guard(mutex_);
    return ended_.wait_for(guard, at_most, [&] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  int count_ = 0;
};

struct Settings {
  ExecWords words;
  std::uint32_t grace_ms = 0;
  std::uint64_t output_bytes_max = 0;
  Running running;
};

std::string_view word_for(const Outcome& outcome, const ChildEnd& end) {
  if (std::holds_alternative<Outcome::Complete>(outcome.value())) return "completed";
  if (std::holds_alternative<Outcome::Delay>(outcome.value())) return "handed_back";
  if (end.stopped) return "stopped";
  return std::get<Outcome::Fail>(outcome.value()).failure_class == FailureClass::permanent ? "failed_permanently" : "failed";
}

void tell(Globals& globals, const Task& task, const ChildEnd& end, const Outcome& outcome, std::int64_t took_ms) {
  const std::string_view word = word_for(outcome, end);
  const auto* failure = std::get_if<Outcome::Fail>(&outcome.value());
  Output& output = globals.output;
  if (output.json()) {
    core::json::object object;
    object["event"] = "task";
    object["execution_id"] = task.execution_id().to_string();
    object["kind"] = task.kind();
    object["attempt_index"] = task.attempt_index();
    object["outcome"] = word;
    if (end.how == ChildEnd::How::exited) object["exit_code"] = end.code;
    if (end.how == ChildEnd::How::signalled) object["signal"] = end.code;
    if (failure) object["message"] = failure->message;
    object["took_ms"] = took_ms;
    output.document(object);
  } else {
    const Colour colour = word == "completed" ? Colour::green : failure ? Colour::red : Colour::yellow;
    output.line(fmt::format("{}  {}  {}  attempt {}  {}{}", output.paint(fmt::format("{:<18}", word), colour),
                            task.execution_id().to_string(), printable(task.kind()), task.attempt_index(),
                            duration_text(took_ms), failure ? "  " + printable(failure->message, 120) : ""));
  }
  (void)output.flush();
}

Outcome handle(Globals& globals, Settings& settings, Task& task) {
  settings.running.enter();
  struct Leave {
    Running& running;
    ~Leave() { running.leave(); }
  } leave{settings.running};
  ChildCall call;
  call.command = settings.words.command;
  call.environment = {{"FF_EXECUTION_ID", task.execution_id().to_string()},
                      {"FF_ATTEMPT", std::to_string(task.attempt_index())},
                      {"FF_KIND", task.kind()},
                      {"FF_LANE", task.lane()},
                      {"FF_NAMESPACE", task.namespace_()},
                      {"FF_CONTENT_TYPE", task.content_type()},
                      {"FF_STORE", globals.store}};
  if (task.traceparent()) call.environment.emplace_back("TRACEPARENT", *task.traceparent());
  call.input = task.payload();
  call.output_bytes_max = settings.output_bytes_max;
  call.kill_grace_ms = settings.grace_ms;
  const std::string uuid = task.execution_id().uuid.to_string();
  if (!settings.words.quiet)
    call.on_error_line = [&, tail = uuid.substr(uuid.size() - 8)](std::string_view line) {
      globals.output.remark(fmt::format("[{}] {}", tail, printable(line)));
    };
  const auto start = Clock::now();
  const ChildEnd end = run_child(call, task.cancelled());
  Outcome outcome = outcome_of(end, task.stop_reason(), settings.words, settings.output_bytes_max);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  if (!settings.words.quiet) tell(globals, task, end, outcome, took.count());
  return outcome;
}

Result<WorkerOptions> worker_options(const ExecWords& words, Settings& settings) {
  auto lease = parse_duration_ms(words.lease);
  if (!lease) return std::unexpected(lease.error());
  auto grace = parse_duration_ms(words.grace);
  if (!grace) return std::unexpected(grace.error());
  auto drain = parse_duration_ms(words.drain_timeout);
  if (!drain) return std::unexpected(drain.error());
  auto narrow = [](std::uint64_t ms) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(ms, 86'400'000)); };
  WorkerOptions options;
  options.lanes = words.lanes;
  options.capabilities = words.capabilities;
  options.concurrency = words.concurrency;
  options.worker_id = words.worker_id;
  options.namespace_scope = words.namespace_;
  options.lease_ttl_ms = narrow(*lease);
  options.drain_timeout_ms = narrow(*drain);
  settings.grace_ms = narrow(*grace);
  options.stop_grace_ms = settings.grace_ms + 1'000;  // a killed child still hands its task back by itself
  return options;
}

Result<int> run_exec(Globals& globals, ExecWords words) {
  words.command = globals.rest;
  if (words.command.empty())
    return std::unexpected(core::invalid_input("command", "missing", "Give the program to run after `--`: ff worker exec --kind KIND -- PROGRAM."));
  if (!can_run(words.command.front()))
    return std::unexpected(core::invalid_input(
        "command", "not_found", fmt::format("'{}' is not a program that can be run.", words.command.front())));
  Settings settings;
  auto options = worker_options(words, settings);
  if (!options) return std::unexpected(options.error());
  auto fabric = open_fabric(globals, Use::follow);
  if (!fabric) return std::unexpected(fabric.error());
  auto info = fabric->info();
  // A server may let a worker work and nothing else.
  if (!info && info.error().code != ErrorCode::forbidden) return std::unexpected(info.error());
  settings.output_bytes_max = info ? info->payload_bytes_max : OpenOptions().payload_bytes_max;
  settings.words = words;

  Worker worker(*fabric, std::move(*options));
  for (const auto& kind : words.kinds)
    worker.on(kind, [&globals, &settings](Task& task) { return handle(globals, settings, task); });
  if (!words.quiet)
    globals.output.remark(fmt::format("Worker {} takes {} from {}; SIGTERM or Ctrl-C drains it.", worker.instance_id(),
                                      fmt::join(words.kinds, ", "), fmt::join(words.lanes, ", ")));
  auto handed_back = worker.run();
  if (!settings.running.wait(std::chrono::milliseconds(settings.grace_ms + 1'000))) {
    // A child that cannot even be killed keeps its handler, which must not see this function return.
    fabric->close();
    (void)globals.output.flush();
    std::_Exit(handed_back ? kDone : exit_code(handed_back.error()));
  }
  if (!handed_back) return std::unexpected(handed_back.error());
  if (!words.quiet && *handed_back > 0) globals.output.remark(fmt::format("{} tasks were handed back.", *handed_back));
  return kDone;
}

}  // namespace

std::string failure_message(const ChildEnd& end, const std::string& program, std::uint64_t output_bytes_max) {
  if (end.how == ChildEnd::How::output_too_long)
    return fmt::format("The output is longer than {} bytes.", output_bytes_max);
  if (end.how == ChildEnd::How::not_started)
    return fmt::format("'{}' could not be started: {}.", program, std::strerror(end.code));
  if (!end.last_error_line.empty()) return end.last_error_line;
  if (end.how == ChildEnd::How::signalled)
    return fmt::format("'{}' was ended by signal {} ({}).", program, end.code, strsignal(end.code));
  return fmt::format("'{}' ended with exit code {}.", program, end.code);
}

Outcome outcome_of(const ChildEnd& end, StopReason stop_reason, const ExecWords& words, std::uint64_t output_bytes_max) {
  const bool exited = end.how == ChildEnd::How::exited;
  if (exited && end.code == 0) return complete(end.output, words.result_type);
  if (end.stopped && stop_reason == StopReason::draining) return delay(std::chrono::milliseconds(0));
  const std::string message = failure_message(end, words.command.front(), output_bytes_max);
  const bool useless = (exited && end.code == kExitDataError) || end.how == ChildEnd::How::output_too_long;
  return useless ? fail_permanent(message) : fail(message);
}

void add_worker(Program& program) {
  CLI::App* worker = program.add(nullptr, "worker", "Run workers", "  ff worker exec --kind resize -- ./resize.sh");
  worker->require_subcommand(1);
  auto words = std::make_shared<ExecWords>();
  CLI::App* exec = program.add(
      worker, "exec",
      "Run a program for each task: payload on standard input, result on standard output.\n"
      "Exit code 0 completes the task, 65 fails it for good, any other fails it and may be tried again, with the last\n"
      "line of standard error as the message. The program gets FF_EXECUTION_ID, FF_ATTEMPT, FF_KIND, FF_LANE,\n"
      "FF_NAMESPACE, FF_CONTENT_TYPE and FF_STORE; SIGTERM tells it that its task was cancelled or lost.",
      "  ff worker exec --kind resize --concurrency 4 -- convert - -resize 100x100 png:-");
  exec->add_option("--kind", words->kinds, "The kind of work it takes; may repeat")->required()->allow_extra_args(false);
  exec->add_option("--lane", words->lanes, "The lane it serves; may repeat")->allow_extra_args(false)->capture_default_str();
  exec->add_option("--namespace", words->namespace_, "Only work of this namespace");
  exec->add_option("--capability", words->capabilities, "What it can do, for work that asks for it; may repeat")
      ->allow_extra_args(false);
  exec->add_option("--concurrency", words->concurrency, "How many at a time")->capture_default_str();
  exec->add_option("--worker-id", words->worker_id, "The pool it belongs to (default: ff)");
  exec->add_option("--lease", words->lease, "How long a task is kept without a sign of life")->capture_default_str();
  exec->add_option("--grace", words->grace, "Between SIGTERM and SIGKILL when a task is stopped")->capture_default_str();
  exec->add_option("--drain-timeout", words->drain_timeout, "How long running tasks may go on when the worker is stopped")
      ->capture_default_str();
  exec->add_option("--result-type", words->result_type, "Content type of the results")->capture_default_str();
  exec->add_flag("--quiet", words->quiet, "Say nothing of single tasks");
  program.takes_rest(exec);
  program.on(exec, [&globals = program.globals, words] { return run_exec(globals, *words); });
}

}  // namespace ff::cli
