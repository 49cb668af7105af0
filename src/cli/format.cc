#include "cli/format.h"

#include "core/text.h"

#include <fmt/chrono.h>

#include <cstdlib>

namespace ff::cli {

std::string duration_text(std::int64_t ms) {
  constexpr std::int64_t kSecond = 1'000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (ms < 0) return "-" + duration_text(-ms);
  if (ms < kSecond) return fmt::format("{}ms", ms);
  if (ms < 10 * kSecond) return fmt::format("{}.{}s", ms / kSecond, ms % kSecond / 100);
  if (ms < kMinute) return fmt::format("{}s", ms / kSecond);
  auto two = [ms](std::int64_t big, char big_name, std::int64_t small, char small_name) {
    const std::int64_t rest = ms % big / small;
    return rest == 0 ? fmt::format("{}{}", ms / big, big_name)
                     : fmt::format("{}{} {}{}", ms / big, big_name, rest, small_name);
  };
  if (ms < kHour) return two(kMinute, 'm', kSecond, 's');
  if (ms < kDay) return two(kHour, 'h', kMinute, 'm');
  return two(kDay, 'd', kHour, 'h');
}

std::string relative_text(TimeMs at, TimeMs now) {
  if (at == now) return "now";
  return at < now ? duration_text(now - at) + " ago" : "in " + duration_text(at - now);
}

std::string time_text(TimeMs at) {
  const TimeMs seconds = at >= 0 ? at / 1000 : (at - 999) / 1000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(seconds)), at - seconds * 1000);
}

std::string moment_text(TimeMs at, TimeMs now) { return fmt::format("{} ({})", time_text(at), relative_text(at, now)); }

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 1024) return fmt::format("{:.1f} KiB", kib);
  return fmt::format("{:.1f} MiB", kib / 1024);
}

std::string number_text(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string count_text(const Count& count) { return (count.estimate ? "~" : "") + number_text(count.value); }

std::string printable(std::string_view text, std::size_t columns_max) {
  std::string shown = core::without_controls(std::string(text));
  if (columns_of(shown) <= columns_max) return shown;
  std::size_t columns = 0, end = 0;
  for (; end < shown.size(); ++end)
    if ((shown[end] & 0xc0) != 0x80 && ++columns == columns_max) break;
  return shown.substr(0, end) + "…";
}

std::string tags_text(const Tags& tags) {
  std::string text;
  for (const auto& [key, value] : tags) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, printable(value));
  return text;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace ff::cli
