#include "api/middleware/pace.h"
#include "log/log.h"

#include <flowfabric/middleware.h>

#include <fmt/format.h>

namespace ff {
namespace {

class TaskLog {
 public:
  TaskLog(LogSink sink, Pace pace) : log_(std::move(sink)), pace_(api::with_machine_time(std::move(pace))) {}

  Outcome operator()(Task& task, const Next& next) const {
    const auto begin = pace_.now();
    try {
      Outcome outcome = next(task);
      tell(task, begin, word_for(outcome), std::get_if<Outcome::Fail>(&outcome.value()));
      return outcome;
    } catch (const std::exception& error) {
      const Outcome::Fail failed{error.what(), FailureClass::transient, std::nullopt};
      tell(task, begin, "threw", &failed);
      throw;
    } catch (...) {
      const Outcome::Fail failed{"unknown exception", FailureClass::transient, std::nullopt};
      tell(task, begin, "threw", &failed);
      throw;
    }
  }

 private:
  void tell(const Task& task, Pace::TimePoint begin, std::string_view outcome, const Outcome::Fail* failed) const {
    const auto took_ms = static_cast<double>(api::since(pace_, begin).count()) / 1'000;
    log_.write(failed ? LogLevel::warn : LogLevel::info, "a task has ended",
               {{"kind", task.kind()},
                {"execution_id", task.execution_id().to_string()},
                {"attempt_index", std::to_string(task.attempt_index())},
                {"outcome", std::string(outcome)},
                {"duration_ms", fmt::format("{:.3f}", took_ms)},
                {"error", failed ? failed->message : ""}});
  }

  Log log_;
  Pace pace_;
};

}  // namespace

std::string_view word_for(const Outcome& outcome) {
  struct Word {
    std::string_view operator()(const Outcome::Complete&) const { return "completed"; }
    std::string_view operator()(const Outcome::Fail&) const { return "failed"; }
    std::string_view operator()(const Outcome::Delay&) const { return "delayed"; }
    std::string_view operator()(const Outcome::WaitForChildren&) const { return "waiting_children"; }
  };
  return std::visit(Word{}, outcome.value());
}

Middleware log_tasks(LogSink sink, Pace pace) { return TaskLog(std::move(sink), std::move(pace)); }

}  // namespace ff
