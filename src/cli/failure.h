#pragma once

#include "cli/output.h"

namespace ff::cli {

// What the program ends with.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kNotFound = 3;
inline constexpr int kRefused = 4;

/// The exit code that stands for an error: 2 for what is wrong with the call, 3 for what is not there, 4 for what the
/// state of things does not allow, 1 for everything else.
int exit_code(const Error& error);

/// The error as an object: code, message, retryable, context.
core::json::object to_json(const Error& error);

/// One line on standard error: `ff: <code>: <sentence>`, or the object with `--json`.
void report(Output& output, const Error& error);

}  // namespace ff::cli
