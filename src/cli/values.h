#pragma once

// Values as people type them: durations, times, tags, bytes.

#include <flowfabric/execution.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ff::cli {

/// `250ms`, `5s`, `1.5h`, `1h30m`, `2d`; a number without a unit is refused, save 0.
Result<std::uint64_t> parse_duration_ms(std::string_view text);

/// In which direction a duration counts when it stands for a time.
enum class Side { past, future };

/// Milliseconds since the epoch, `2025-11-16T10:00:00Z` (also with a space, without seconds, with `.250`, `+02:00` or as
/// a bare date), or a duration before or after `now`.
Result<TimeMs> parse_time(std::string_view text, TimeMs now, Side side);

/// `key=value`; the value may be empty and may hold further `=`.
Result<std::pair<std::string, std::string>> parse_tag(std::string_view text);
/// `key=value` sets, `key-` removes.
Result<std::pair<std::string, std::optional<std::string>>> parse_tag_change(std::string_view text);

/// The text itself, the content of a file for `@path`, standard input for `-`.
Result<Bytes> read_bytes(const std::string& argument);

}  // namespace ff::cli
