#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace ff {

enum class LogLevel { trace, debug, info, warn, error };

struct LogField {
  std::string_view name;
  std::string value;
};

/// Takes one record of the log. Called from any thread; must not block for long and must not call the fabric.
using LogSink = std::function<void(LogLevel level, std::string_view message, std::span<const LogField> fields)>;

}  // namespace ff
