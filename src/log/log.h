#pragma once

#include <flowfabric/log.h>

#include <initializer_list>

namespace ff {

/// The log as the engine writes it: a sink, or stderr for warnings when nobody gave one.
class Log {
 public:
  explicit Log(LogSink sink) : sink_(std::move(sink)) {}

  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    write(LogLevel::info, message, fields);
  }
  void warn(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    write(LogLevel::warn, message, fields);
  }
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    write(LogLevel::error, message, fields);
  }

 private:
  LogSink sink_;
};

}  // namespace ff
