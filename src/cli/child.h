#pragma once

// A program as a child process: bytes in, bytes out, stopped when asked.

#include <flowfabric/ids.h>

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace ff::cli {

struct ChildCall {
  std::vector<std::string> command;  ///< the program, found on PATH, and its arguments
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours
  std::string_view input;
  std::uint64_t output_bytes_max = 1 << 20;
  std::uint32_t kill_grace_ms = 5'000;          ///< between SIGTERM and SIGKILL
  std::function<void(std::string_view)> on_error_line;  ///< each line of its standard error, as it comes
};

struct ChildEnd {
  enum class How : std::uint8_t {
    exited,           ///< `code` is its exit code
    signalled,        ///< `code` is the signal that ended it
    not_started,      ///< `code` is the errno
    output_too_long,  ///< it wrote more than was allowed and was ended
  };
  How how = How::exited;
  int code = 0;
  bool stopped = false;  ///< it was asked to stop
  Bytes output;
  std::string last_error_line;
};

/// Runs the program to its end. When `stop` fires, its process group gets SIGTERM and, after the grace, SIGKILL. It is
/// killed too when this process dies. This process must ignore SIGPIPE: a child may not want its input.
ChildEnd run_child(const ChildCall& call, const std::stop_token& stop);

/// Whether such a program can be found and run at all.
bool can_run(const std::string& program);

}  // namespace ff::cli
