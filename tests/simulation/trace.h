#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ff::sim {

/// What came up in runs, and how often: a simulation that never sees a lost lease proves nothing about lost leases.
using Sightings = std::map<std::string, std::uint64_t>;

/// What happened in a run: always as one number, by which two runs of a seed are compared; as text when asked.
///
/// Text costs more than the run itself, so a failing seed is simply run a second time with it.
class Trace {
 public:
  explicit Trace(bool with_text) : with_text_(with_text) {}

  /// Part of the identity of the run.
  void mark(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3ULL ^ (hash_ >> 29); }
  std::uint64_t hash() const { return hash_; }

  /// For people; formatted only when somebody will read it.
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    if (!with_text_) return;
    lines_.push_back(fmt::format(format, std::forward<Args>(args)...));
    if (lines_.size() > kLinesMax) lines_.pop_front();
  }
  bool with_text() const { return with_text_; }

  template <class... Args>
  void saw(fmt::format_string<Args...> format, Args&&... args) {
    ++sightings_[fmt::format(format, std::forward<Args>(args)...)];
  }
  const Sightings& sightings() const { return sightings_; }
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  static constexpr std::size_t kLinesMax = 100'000;

  bool with_text_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::deque<std::string> lines_;
  Sightings sightings_;
};

/// The first thing that was found wrong; the run stops soon after it.
///
/// Not an exception: checks run inside callbacks of the engine, which must not be torn by what the test thinks.
class Verdict {
 public:
  template <class... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (!fault_) fault_ = fmt::format(format, std::forward<Args>(args)...);
  }
  bool failed() const { return fault_.has_value(); }
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  std::optional<std::string> fault_;
};

}  // namespace ff::sim
