#pragma once

#include <string>
#include <string_view>

namespace ff::core {

/// At most `bytes_max` bytes, cut at a character border.
std::string truncate_utf8(std::string text, std::size_t bytes_max);

/// Control bytes become spaces: for texts that people read line by line.
std::string without_controls(std::string text);

}  // namespace ff::core
