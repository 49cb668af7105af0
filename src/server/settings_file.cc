#include "server/settings_file.h"

#include "core/json.h"

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

/// One line of TOML, from left to right.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) { skip_blanks(); }

  bool at_end() const { return text_.empty() || text_[0] == '#'; }
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    skip_blanks();
    return true;
  }
  std::optional<std::string> name() {
    std::size_t size = 0;
    while (size < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[size])) || text_[size] == '_')) ++size;
    if (size == 0) return std::nullopt;
    return cut(size);
  }
  std::optional<std::string> value() {
    if (take('[')) return list();
    return scalar();
  }

 private:
  void skip_blanks() {
    while (text_.starts_with(' ') || text_.starts_with('\t') || text_.starts_with('\r')) text_.remove_prefix(1);
  }
  std::string cut(std::size_t size) {
    std::string out(text_.substr(0, size));
    text_.remove_prefix(size);
    skip_blanks();
    return out;
  }
  std::optional<std::string> scalar() {
    if (text_.starts_with('"')) return quoted();
    if (text_.starts_with('\'')) {
      const std::size_t end = text_.find('\'', 1);
      if (end == text_.npos) return std::nullopt;
      std::string whole = cut(end + 1);
      return whole.substr(1, whole.size() - 2);
    }
    const std::size_t size = std::min(text_.find_first_of(" \t\r,]#"), text_.size());
    std::string word = cut(size);
    if (word == "true" || word == "false") return word;
    std::erase(word, '_');
    if (word.empty() || word.find_first_not_of("0123456789") != word.npos) return std::nullopt;
    return word;
  }
  std::optional<std::string> quoted() {
    std::size_t end = 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return std::nullopt;
    // The escapes that both languages have mean the same.
    boost::json::error_code error;
    const core::json::value value = core::json::parse(cut(end + 1), error);
    return error ? std::nullopt : std::optional(std::string(value.get_string()));
  }
  std::optional<std::string> list() {
    std::string joined;
    bool first = true;
    while (!take(']')) {
      if (!first && !take(',')) return std::nullopt;
      if (!first && take(']')) break;
      auto item = scalar();
      if (!item) return std::nullopt;
      joined += (first ? "" : ",") + *item;
      first = false;
    }
    return joined;
  }

  std::string_view text_;
};

Result<FileSettings> read_toml(std::string_view text) {
  FileSettings out;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Line line(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.at_end()) continue;
    if (line.take('[')) {
      if (!line.name() || !line.take(']') || !line.at_end()) return bad_file(fmt::format("Line {} is no [section].", number));
      continue;
    }
    auto name = line.name();
    if (!name || !line.take('=')) return bad_file(fmt::format("Line {} is not of the form name = value.", number));
    auto value = line.value();
    if (!value || !line.at_end())
      return bad_file(fmt::format("Line {}: the value of '{}' is no text in quotes, integer, true, false, or list of these "
                                  "on one line.",
                                  number, *name));
    out.emplace_back(std::move(*name), std::move(*value));
  }
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
