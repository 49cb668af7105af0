#include "log/log.h"

#include <fmt/format.h>

#include <cstdio>

namespace ff {

void Log::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const {
  if (sink_) {
    sink_(level, message, std::span(fields.begin(), fields.size()));
    return;
  }
  if (level < LogLevel::warn) return;
  std::string line = fmt::format("flowfabric {}: {}", level == LogLevel::warn ? "warning" : "error", message);
  for (const auto& field : fields) line += fmt::format(" {}={}", field.name, field.value);
  fmt::print(stderr, "{}\n", line);
}

}  // namespace ff
