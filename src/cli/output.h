#pragma once

// Where a command writes: answers to standard output, remarks to standard error, as text or as JSON.

#include "core/json.h"

#include <flowfabric/error.h>
#include <flowfabric/states.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace ff::cli {

enum class Colour { none, dim, bold, red, green, yellow, blue, cyan };

class Output {
 public:
  /// Colour is used on a terminal only, and not when NO_COLOR is set or TERM is `dumb`.
  explicit Output(std::FILE* out = stdout, std::FILE* err = stderr);

  void set_json(bool json) { json_ = json; }
  bool json() const { return json_; }
  bool out_is_terminal() const { return out_is_terminal_; }
  bool err_is_terminal() const { return err_is_terminal_; }

  /// A line of the answer.
  void line(std::string_view text);
  /// A JSON value on a line of its own.
  void document(const core::json::value& value);
  /// Bytes exactly as they are.
  void raw(std::string_view bytes);
  /// A remark that is no part of the answer; left out with `--json`.
  void remark(std::string_view text);
  /// A line on standard error, with `--json` too.
  void error_line(std::string_view text);

  /// The text in that colour where standard output shows colours.
  std::string paint(std::string_view text, Colour colour) const { return painted(text, colour, out_colour_); }
  /// The same for standard error.
  std::string paint_remark(std::string_view text, Colour colour) const { return painted(text, colour, err_colour_); }

  /// Sends off what was written. False when standard output could not take all of it.
  bool flush();

 private:
  static std::string painted(std::string_view text, Colour colour, bool on);
  void write(std::FILE* file, std::string_view text, bool new_line);

  std::FILE* out_;
  std::FILE* err_;
  bool out_is_terminal_;
  bool err_is_terminal_;
  bool out_colour_;
  bool err_colour_;
  bool json_ = false;
  std::mutex mutex_;
};

Colour colour_of(PublicState state);

/// Tells how long work comes along, on a terminal only; wiped away at the end.
class ProgressBar {
 public:
  ProgressBar(Output& output, std::string what, std::uint64_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  /// May be called often and from any thread; draws a few times a second.
  void show(std::uint64_t done);

 private:
  Output& output_;
  std::string what_;
  std::uint64_t total_;
  std::mutex mutex_;
  std::int64_t drawn_at_ms_ = 0;
  bool drawn_ = false;
};

}  // namespace ff::cli
