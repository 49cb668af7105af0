#include "cli/output.h"

#include "cli/format.h"
#include "core/json_write.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

namespace ff::cli {
namespace {

/// As the library writes it, but for numbers: 0.72 and not 7.2E-1.
void add_json(std::string& out, const core::json::value& value) {
  if (const auto* array = value.if_array()) {
    out += '[';
    for (const auto& item : *array) {
      if (&item != array->begin()) out += ',';
      add_json(out, item);
    }
    out += ']';
  } else if (const auto* object = value.if_object()) {
    out += '{';
    for (const auto& member : *object) {
      if (&member != object->begin()) out += ',';
      core::write_quoted(out, member.key());
      out += ':';
      add_json(out, member.value());
    }
    out += '}';
  } else if (const double* number = value.if_double()) {
    core::write_json(out, *number);
  } else {
    out += core::json::serialize(value);
  }
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return !(no_colour && *no_colour) && !(term && std::string_view(term) == "dumb");
}

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::none: break;
    case Colour::dim: return "\x1b[2m";
    case Colour::bold: return "\x1b[1m";
    case Colour::red: return "\x1b[31m";
    case Colour::green: return "\x1b[32m";
    case Colour::yellow: return "\x1b[33m";
    case Colour::blue: return "\x1b[34m";
    case Colour::cyan: return "\x1b[36m";
  }
  return {};
}

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Output::Output(std::FILE* out, std::FILE* err)
    : out_(out),
      err_(err),
      out_is_terminal_(isatty(fileno(out)) == 1),
      err_is_terminal_(isatty(fileno(err)) == 1),
      out_colour_(out_is_terminal_ && wants_colour()),
      err_colour_(err_is_terminal_ && wants_colour()) {}

void Output::write(std::FILE* file, std::string_view text, bool new_line) {
  std::lock_guard guard(mutex_);
  std::fwrite(text.data(), 1, text.size(), file);
  if (new_line) std::fputc('\n', file);
}

void Output::line(std::string_view text) { write(out_, text, true); }
void Output::document(const core::json::value& value) {
  std::string text;
  add_json(text, value);
  write(out_, text, true);
}
void Output::raw(std::string_view bytes) { write(out_, bytes, false); }
void Output::error_line(std::string_view text) { write(err_, text, true); }
void Output::remark(std::string_view text) {
  if (!json_) write(err_, text, true);
}

bool Output::flush() { return std::fflush(out_) == 0 && std::ferror(out_) == 0; }

std::string Output::painted(std::string_view text, Colour colour, bool on) {
  const std::string_view code = code_of(colour);
  if (!on || code.empty() || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", code, text);
}

Colour colour_of(PublicState state) {
  switch (state) {
    case PublicState::completed: return Colour::green;
    case PublicState::failed:
    case PublicState::expired: return Colour::red;
    case PublicState::cancelled:
    case PublicState::skipped: return Colour::yellow;
    case PublicState::active: return Colour::cyan;
    case PublicState::waiting:
    case PublicState::resumable: return Colour::blue;
    case PublicState::delayed:
    case PublicState::rate_limited:
    case PublicState::waiting_children:
    case PublicState::suspended: break;
  }
  return Colour::none;
}

ProgressBar::ProgressBar(Output& output, std::string what, std::uint64_t total)
    : output_(output), what_(std::move(what)), total_(total) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(std::uint64_t done) {
  constexpr std::int64_t kRedrawMs = 100;
  constexpr std::size_t kWidth = 30;
  if (!output_.err_is_terminal() || output_.json() || total_ == 0) return;
  std::lock_guard guard(mutex_);
  const std::int64_t now = steady_ms();
  if (drawn_ && now - drawn_at_ms_ < kRedrawMs) return;
  drawn_ = true;
  drawn_at_ms_ = now;
  const std::uint64_t shown = std::min(done, total_);
  const auto full = static_cast<std::size_t>(shown * kWidth / total_);
  fmt::print(stderr, "\r\x1b[K{} [{}{}] {} of {}", what_, std::string(full, '='), std::string(kWidth - full, ' '),
             number_text(shown), number_text(total_));
  std::fflush(stderr);
}

}  // namespace ff::cli
