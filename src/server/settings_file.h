#pragma once

// The settings file: TOML or JSON, by its ending. Both are flat lists of names and values; sections only group.

#include "core/errors.h"

#include <string>
#include <utility>
#include <vector>

namespace ff::server {

using FileSettings = std::vector<std::pair<std::string, std::string>>;

/// The names and values, lists joined by commas. `invalid_input` with the line of what cannot be read. Values are texts,
/// integers, booleans and lists of these; whatever else the two languages have is refused.
Result<FileSettings> read_settings_file(const std::string& path, std::string_view text);

}  // namespace ff::server
