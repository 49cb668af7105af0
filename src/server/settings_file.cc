#include "server/settings_file.h"

#include "core/json.h"

// Errors are values here too, and all of it is compiled in this one source.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace ff::server {
namespace {

std::unexpected<Error> bad_file(std::string sentence) {
  return std::unexpected(core::invalid_input("config", "malformed", std::move(sentence)));
}

std::optional<std::string> json_text(const core::json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool() || value.is_number()) return core::json::serialize(value);
  if (!value.is_array()) return std::nullopt;
  std::string joined;
  for (const auto& item : value.get_array()) {
    auto text = item.is_array() ? std::nullopt : json_text(item);
    if (!text) return std::nullopt;
    joined += (joined.empty() ? "" : ",") + *text;
  }
  return joined;
}

Result<void> add_json(const core::json::object& object, FileSettings& out, bool sections) {
  for (const auto& [name, value] : object) {
    if (value.is_object() && sections) {
      if (auto added = add_json(value.get_object(), out, false); !added) return added;
      continue;
    }
    auto text = json_text(value);
    if (!text) return bad_file(fmt::format("'{}' is no text, number, yes or no, or list of these.", std::string_view(name)));
    out.emplace_back(std::string(name), std::move(*text));
  }
  return {};
}

/// Lines count from one.
std::unexpected<Error> bad_line(const toml::source_region& source, std::string_view what) {
  return bad_file(fmt::format("Line {}: {}.", source.begin.line, what));
}

std::optional<std::string> toml_text(const toml::node& value) {
  if (auto text = value.value_exact<std::string>()) return text;
  if (auto yes = value.value_exact<bool>()) return *yes ? "true" : "false";
  if (auto number = value.value_exact<std::int64_t>()) return std::to_string(*number);
  const toml::array* list = value.as_array();
  if (!list) return std::nullopt;
  std::string joined;
  for (const toml::node& item : *list) {
    auto text = item.is_array() ? std::nullopt : toml_text(item);
    if (!text) return std::nullopt;
    joined += (joined.empty() ? "" : ",") + *text;
  }
  return joined;
}

Result<void> add_toml(const toml::table& table, FileSettings& out, bool sections) {
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    if (const toml::table* section = value.as_table(); section && sections) {
      if (auto added = add_toml(*section, out, false); !added) return added;
      continue;
    }
    auto text = toml_text(value);
    if (!text)
      return bad_line(value.source(), fmt::format("the value of '{}' is no text, integer, true, false, or list of these", name));
    out.emplace_back(name, std::move(*text));
  }
  return {};
}

Result<FileSettings> read_toml(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) return bad_line(parsed.error().source(), parsed.error().description());
  FileSettings out;
  if (auto added = add_toml(parsed.table(), out, true); !added) return std::unexpected(added.error());
  return out;
}

Result<FileSettings> read_json(std::string_view text) {
  auto parsed = core::parse_json(text);
  if (!parsed) return std::unexpected(parsed.error());
  if (!parsed->is_object()) return bad_file("A settings file in JSON is an object.");
  FileSettings out;
  if (auto added = add_json(parsed->get_object(), out, true); !added) return std::unexpected(added.error());
  return out;
}

}  // namespace

Result<FileSettings> read_settings_file(const std::string& path, std::string_view text) {
  if (path.ends_with(".json")) return read_json(text);
  if (path.ends_with(".toml")) return read_toml(text);
  return bad_file("A settings file ends in .toml or .json.");
}

}  // namespace ff::server
