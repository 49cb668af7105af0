#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ff::core {

/// Decodes the character at `at` and moves past it; none, without moving, where the bytes are not UTF-8.
std::optional<char32_t> next_char(std::string_view text, std::size_t& at);

bool is_utf8(std::string_view text);

/// What a program said, made fit to be kept: each byte that is not part of a character becomes U+FFFD, and the text is
/// cut to at most `bytes_max` bytes.
std::string clean_text(std::string text, std::size_t bytes_max);

/// At most `bytes_max` bytes, cut at a character border.
std::string truncate_utf8(std::string text, std::size_t bytes_max);

/// Control bytes become spaces: for texts that people read line by line.
std::string without_controls(std::string text);

}  // namespace ff::core
