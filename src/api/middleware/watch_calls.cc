// What tells of calls without changing them: a log, figures.

#include "core/describe.h"
#include "core/fields.h"

#include <flowfabric/call_middleware.h>

#include <fmt/format.h>

#include <array>

namespace ff {

CallMiddleware log_calls(LogSink sink) {
  CallMiddleware log;
  log.after = [sink = std::move(sink)](const CallInfo& call, std::chrono::microseconds took, const Error* error) {
    const bool is_fault = error && error->category() == ErrorCategory::transport;
    const std::array<LogField, 4> fields{{{"call", std::string(call.name)},
                                          {"items", std::to_string(call.items)},
                                          {"duration_ms", fmt::format("{:.3f}", static_cast<double>(took.count()) / 1'000)},
                                          {"error", error ? error->to_string() : ""}}};
    sink(is_fault ? LogLevel::warn : LogLevel::debug, "a call was answered", fields);
  };
  return log;
}

CallMiddleware count_calls(std::shared_ptr<CallMetrics> metrics) {
  CallMiddleware count;
  count.before = [metrics](const CallInfo& call) -> std::optional<Error> {
    metrics->began(call.name);
    return std::nullopt;
  };
  count.after = [metrics](const CallInfo& call, std::chrono::microseconds took, const Error* error) {
    metrics->ended(call.name, error ? core::name_of(error->category()) : "ok", took);
  };
  return count;
}

}  // namespace ff
