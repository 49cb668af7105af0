#pragma once

// Any program as a worker: what a child's end means for its task.

#include "cli/child.h"

#include <flowfabric/task.h>

namespace ff::cli {

/// Exit codes of sysexits.h: only this one says that trying again is useless.
inline constexpr int kExitDataError = 65;

/// The command line of `ff worker exec`.
struct ExecWords {
  std::vector<std::string> kinds, lanes = {"default"}, capabilities, command;
  std::optional<std::string> namespace_, worker_id;
  std::uint32_t concurrency = 1;
  std::string lease = "30s", grace = "5s", drain_timeout = "30s";
  std::string result_type = "text/plain; charset=utf-8";
  bool quiet = false;
};

/// What the end of a child is to the engine.
///
/// Exit code 0 completes with its output; 65 and too much output fail for good; everything else fails and may be tried
/// again. A child that ended because the worker drains hands its task back.
Outcome outcome_of(const ChildEnd& end, StopReason stop_reason, const ExecWords& words, std::uint64_t output_bytes_max);

/// The failure in words: the last line of its standard error, or how it ended.
std::string failure_message(const ChildEnd& end, const std::string& program, std::uint64_t output_bytes_max);

}  // namespace ff::cli
