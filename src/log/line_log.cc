#include "log/line_log.h"

#include "core/json.h"
#include "core/text.h"

#include <unistd.h>

#include <ctime>
#include <memory>
#include <mutex>

namespace ff {
namespace {

constexpr std::size_t kValueBytesMax = 8 * 1024;  ///< of one value: a log is read, not stored in

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::trace: return "trace";
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warn: return "warn";
    case LogLevel::error: return "error";
  }
  return "error";
}

std::string time_text(std::int64_t wall_ms, std::string_view between, std::string_view behind) {
  const std::time_t seconds = wall_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}.{:03}{}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     between, parts.tm_hour, parts.tm_min, parts.tm_sec, wall_ms % 1000, behind);
}

std::string clean(std::string_view text) { return core::clean_text(std::string(text), kValueBytesMax); }

std::string quoted(std::string_view text) { return core::json::serialize(core::json::string(clean(text))); }

/// A value as it stands in a line for people: in quotes when it has blanks.
std::string plain(std::string_view text) {
  const bool is_word = !text.empty() && text.find_first_of(" \"=\t\r\n") == text.npos;
  return is_word ? core::without_controls(clean(text)) : quoted(text);
}

std::string text_line(std::int64_t wall_ms, LogLevel level, std::string_view message, std::span<const LogField> fields) {
  std::string line = fmt::format("{} {:<5} {}", time_text(wall_ms, " ", ""), name_of(level), core::without_controls(clean(message)));
  for (const LogField& field : fields) line += fmt::format(" {}={}", field.name, plain(field.value));
  return line;
}

std::string json_line(std::int64_t wall_ms, LogLevel level, std::string_view message, std::span<const LogField> fields) {
  std::string line = fmt::format(R"({{"ts":"{}","level":"{}","message":{})", time_text(wall_ms, "T", "Z"), name_of(level),
                                 quoted(message));
  for (const LogField& field : fields) line += fmt::format(",{}:{}", quoted(field.name), quoted(field.value));
  return line + "}";
}

bool is_audit(std::span<const LogField> fields) {
  for (const LogField& field : fields)
    if (field.name == "target" && field.value == "audit") return true;
  return false;
}

}  // namespace

LogSink line_log(LineLogOptions options) {
  auto mutex = std::make_shared<std::mutex>();
  return [options = std::move(options), mutex](LogLevel level, std::string_view message, std::span<const LogField> fields) {
    if (level < options.least && !is_audit(fields)) return;
    const std::int64_t now = options.wall_ms();
    const std::string line = options.format == LogFormat::text ? text_line(now, level, message, fields)
                                                               : json_line(now, level, message, fields);
    std::lock_guard guard(*mutex);
    options.write_line(line);
  };
}

void write_to_stderr(const std::string& line) {
  const std::string whole = line + "\n";
  // A log that cannot be written is no reason to stop.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, whole.data(), whole.size());
}

}  // namespace ff
