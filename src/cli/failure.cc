#include "cli/failure.h"

#include "cli/format.h"

namespace ff::cli {

int exit_code(const Error& error) {
  if (error.code == ErrorCode::store_refused && error.context.text("reason") == "invalid_url") return kUsage;
  if (error.code == ErrorCode::unauthorized || error.code == ErrorCode::forbidden) return kRefused;
  switch (error.category()) {
    case ErrorCategory::not_found: return kNotFound;
    case ErrorCategory::validation: return kUsage;
    case ErrorCategory::contention:
    case ErrorCategory::conflict:
    case ErrorCategory::state: return kRefused;
    case ErrorCategory::limit:
    case ErrorCategory::transport:
    case ErrorCategory::unavailable:
    case ErrorCategory::timeout:
    case ErrorCategory::bug: break;
  }
  return kFailed;
}

core::json::object to_json(const Error& error) {
  core::json::object context;
  for (const auto& [name, detail] : error.context.items())
    context[name] = std::visit([](const auto& value) { return core::to_value(value); }, detail);
  core::json::object object;
  object["code"] = traits(error.code).name;
  object["message"] = error.message;
  object["retryable"] = error.retryable();
  object["context"] = std::move(context);
  return object;
}

void report(Output& output, const Error& error) {
  if (output.json()) {
    core::json::object line;
    line["error"] = to_json(error);
    return output.error_line(core::json::serialize(line));
  }
  output.error_line(fmt::format("ff: {}: {}", output.paint_remark(traits(error.code).name, Colour::red),
                                printable(error.message)));
}

}  // namespace ff::cli
