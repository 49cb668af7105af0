#include "cli/values.h"

#include "core/errors.h"

#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>

namespace ff::cli {
namespace {

constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
    {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
/// A duration that is longer is a typing error.
constexpr double kDurationMsMax = 1'000.0 * 366 * 86'400'000;

std::unexpected<Error> wrong_duration(std::string_view text) {
  return std::unexpected(core::invalid_input(
      "duration", "malformed", fmt::format("'{}' is not a duration; write one like 250ms, 5s, 10m, 1h30m or 2d.", text)));
}

std::unexpected<Error> wrong_time(std::string_view text) {
  return std::unexpected(core::invalid_input("time", "malformed",
                                             fmt::format("'{}' is not a time; write one like 2025-11-16T10:00:00Z, "
                                                         "milliseconds since 1970, or a duration like 10m.",
                                                         text)));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes numbers of a fixed width and single characters off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool digits(std::size_t count, int& value) {
    if (text_.size() < count) return false;
    value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit(text_[i])) return false;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return true;
  }
  bool one_of(std::string_view characters, char* which = nullptr) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return false;
    if (which) *which = text_.front();
    text_.remove_prefix(1);
    return true;
  }
  /// Up to three digits of a fraction of a second, as milliseconds; further ones are dropped.
  int fraction_ms() {
    int value = 0, scale = 100;
    while (!text_.empty() && is_digit(text_.front())) {
      value += (text_.front() - '0') * scale;
      scale /= 10;
      text_.remove_prefix(1);
    }
    return value;
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

std::optional<TimeMs> parse_calendar_time(std::string_view text) {
  namespace chrono = std::chrono;
  Scanner scan(text);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ms = 0;
  if (!scan.digits(4, year) || !scan.one_of("-") || !scan.digits(2, month) || !scan.one_of("-") || !scan.digits(2, day))
    return std::nullopt;
  int offset_minutes = 0;
  if (!scan.at_end()) {
    if (!scan.one_of("T t") || !scan.digits(2, hour) || !scan.one_of(":") || !scan.digits(2, minute)) return std::nullopt;
    if (scan.one_of(":")) {
      if (!scan.digits(2, second)) return std::nullopt;
      if (scan.one_of(".")) ms = scan.fraction_ms();
    }
    char sign = 'Z';
    if (!scan.at_end() && !scan.one_of("Zz+-", &sign)) return std::nullopt;
    if (sign == '+' || sign == '-') {
      int hours = 0, minutes = 0;
      if (!scan.digits(2, hours) || (scan.one_of(":"), !scan.digits(2, minutes))) return std::nullopt;
      if (hours > 23 || minutes > 59) return std::nullopt;
      offset_minutes = (hours * 60 + minutes) * (sign == '-' ? -1 : 1);
    }
  }
  const chrono::year_month_day date(chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day)));
  if (!scan.at_end() || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto at = chrono::sys_days(date) + chrono::hours(hour) + chrono::minutes(minute - offset_minutes) +
                  chrono::seconds(second) + chrono::milliseconds(ms);
  return chrono::duration_cast<chrono::milliseconds>(at.time_since_epoch()).count();
}

}  // namespace

Result<std::uint64_t> parse_duration_ms(std::string_view text) {
  if (text == "0") return 0;
  if (text.empty()) return wrong_duration(text);
  double total = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    double number = 0;
    if (!is_digit(rest.front())) return wrong_duration(text);
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (error != std::errc{}) return wrong_duration(text);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    std::size_t letters = 0;
    while (letters < rest.size() && rest[letters] >= 'a' && rest[letters] <= 'z') ++letters;
    const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                    [&](const auto& known) { return known.first == rest.substr(0, letters); });
    if (unit == std::end(kUnits)) return wrong_duration(text);
    total += number * static_cast<double>(unit->second);
    rest.remove_prefix(letters);
  }
  if (total > kDurationMsMax) return wrong_duration(text);
  return static_cast<std::uint64_t>(total + 0.5);
}

Result<TimeMs> parse_time(std::string_view text, TimeMs now, Side side) {
  if (text.size() >= 10 && std::all_of(text.begin(), text.end(), is_digit)) {
    TimeMs value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return wrong_time(text);
    return value;
  }
  if (auto calendar = parse_calendar_time(text)) return *calendar;
  auto duration = parse_duration_ms(text);
  if (!duration) return wrong_time(text);
  const auto span = static_cast<TimeMs>(*duration);
  return side == Side::past ? now - span : now + span;
}

Result<std::pair<std::string, std::string>> parse_tag(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return std::unexpected(
        core::invalid_input("tag", "malformed", fmt::format("'{}' is not a tag; write it as key=value.", text)));
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

Result<std::pair<std::string, std::optional<std::string>>> parse_tag_change(std::string_view text) {
  if (text.find('=') == std::string_view::npos && text.size() > 1 && text.ends_with('-'))
    return std::pair(std::string(text.substr(0, text.size() - 1)), std::optional<std::string>());
  auto tag = parse_tag(text);
  if (!tag)
    return std::unexpected(core::invalid_input(
        "tag", "malformed", fmt::format("'{}' is no change of a tag; write key=value to set it, key- to remove it.", text)));
  return std::pair(std::move(tag->first), std::optional(std::move(tag->second)));
}

Result<Bytes> read_bytes(const std::string& argument) {
  if (argument == "-") return Bytes(std::istreambuf_iterator<char>(std::cin), {});
  if (!argument.starts_with('@')) return argument;
  const std::string path = argument.substr(1);
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad())
    return std::unexpected(core::invalid_input("file", "unreadable", fmt::format("The file '{}' cannot be read.", path)));
  return bytes;
}

}  // namespace ff::cli
