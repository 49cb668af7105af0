#pragma once

// The settings file: TOML or JSON, by its ending. Both are flat lists of names and values; sections only group.

#include "core/errors.h"

#include <string>
#include <utility>
#include <vector>

namespace ff::server {

using FileSettings = std::vector<std::pair<std::string, std::string>>;

/// The names and values, lists joined by commas. `invalid_input` with the line of what cannot be read.
///
/// Of TOML this takes what settings need: tables, names, texts in either quotes, integers, booleans, lists of these, and
/// remarks. Whatever else TOML has is refused.
Result<FileSettings> read_settings_file(const std::string& path, std::string_view text);

}  // namespace ff::server
