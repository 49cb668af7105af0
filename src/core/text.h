#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ff::core {

/// Decodes the character at `at` and moves on. None for bytes that are not UTF-8; then `at` stays.
std::optional<char32_t> next_char(std::string_view text, std::size_t& at);

/// Texts are UTF-8 everywhere: they are kept and sent as JSON, which knows nothing else.
bool is_utf8(std::string_view text);

/// Bytes that are not UTF-8 become U+FFFD: a message must not be lost, nor its execution, because of one bad byte.
std::string repair_utf8(std::string text);

/// At most `bytes_max` bytes, cut at a character border.
std::string truncate_utf8(std::string text, std::size_t bytes_max);

/// Control bytes become spaces: for texts that people read line by line.
std::string without_controls(std::string text);

}  // namespace ff::core
