#pragma once

// How numbers, times and foreign texts are shown to people.

#include <flowfabric/execution.h>

#include <string>
#include <string_view>

namespace ff::cli {

/// Two units at most: `350ms`, `4.2s`, `5m 10s`, `2h 3m`, `3d 4h`.
std::string duration_text(std::int64_t ms);
/// `5m 10s ago`, `in 3s`, `now`.
std::string relative_text(TimeMs at, TimeMs now);
/// `2025-11-16 10:00:00.250Z`.
std::string time_text(TimeMs at);
/// Both of the above.
std::string moment_text(TimeMs at, TimeMs now);
/// `0 B`, `512 B`, `1.5 KiB`, `3.0 MiB`.
std::string bytes_text(std::uint64_t bytes);
/// With a comma after each three digits.
std::string number_text(std::uint64_t number);
/// An estimate has a `~` before it.
std::string count_text(const Count& count);
/// Foreign text fit for a terminal: control characters become spaces, and at most `columns_max` characters are shown.
std::string printable(std::string_view text, std::size_t columns_max = 10'000);
/// `key=value` pairs, separated by spaces.
std::string tags_text(const Tags& tags);
/// How many columns a UTF-8 text takes, one for each character.
std::size_t columns_of(std::string_view text);

}  // namespace ff::cli
