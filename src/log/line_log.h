#pragma once

// A log of lines: for people on a terminal, or one JSON object each for programs.

#include <flowfabric/log.h>

#include <cstdint>

namespace ff {

enum class LogFormat { text, json };

struct LineLogOptions {
  LogFormat format = LogFormat::text;
  LogLevel least = LogLevel::info;  ///< what is below this is not written; records of the target `audit` always are
  std::function<std::int64_t()> wall_ms;                   ///< required: milliseconds since the epoch
  std::function<void(const std::string& line)> write_line;  ///< required; called for one line at a time
};

/// `2026-11-16 03:36:35.594 warn  the sentence name=value`, or
/// `{"ts":"2026-11-16T03:36:35.594Z","level":"warn","message":"the sentence","name":"value"}`.
LogSink line_log(LineLogOptions options);

/// Writes lines to standard error, each with one call, so that those of several processes do not mix.
void write_to_stderr(const std::string& line);

}  // namespace ff
