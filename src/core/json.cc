#include "core/json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>

namespace ff::core {
namespace {

/// Lets everything pass that is JSON.
struct Nothing {
  static constexpr std::size_t max_object_size = ~std::size_t{0};
  static constexpr std::size_t max_array_size = ~std::size_t{0};
  static constexpr std::size_t max_key_size = ~std::size_t{0};
  static constexpr std::size_t max_string_size = ~std::size_t{0};
  using error_code = boost::json::error_code;
  using Text = boost::json::string_view;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t, error_code&) { return true; }
  bool on_object_begin(error_code&) { return true; }
  bool on_object_end(std::size_t, error_code&) { return true; }
  bool on_key_part(Text, std::size_t, error_code&) { return true; }
  bool on_key(Text, std::size_t, error_code&) { return true; }
  bool on_string_part(Text, std::size_t, error_code&) { return true; }
  bool on_string(Text, std::size_t, error_code&) { return true; }
  bool on_number_part(Text, error_code&) { return true; }
  bool on_int64(std::int64_t, Text, error_code&) { return true; }
  bool on_uint64(std::uint64_t, Text, error_code&) { return true; }
  bool on_double(double, Text, error_code&) { return true; }
  bool on_bool(bool, error_code&) { return true; }
  bool on_null(error_code&) { return true; }
  bool on_comment_part(Text, error_code&) { return true; }
  bool on_comment(Text, error_code&) { return true; }
};

/// Finds the member name that an object has twice, in text that is known to be JSON.
struct DuplicateFinder : Nothing {
  std::vector<std::vector<std::string>> open;
  std::string key;
  std::string duplicate;

  bool on_object_begin(error_code&) {
    open.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, error_code&) {
    auto& names = open.back();
    std::sort(names.begin(), names.end());
    auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end() && duplicate.empty()) duplicate = *twice;
    open.pop_back();
    return true;
  }
  bool on_key_part(Text part, std::size_t, error_code&) {
    key.append(part.data(), part.size());
    return true;
  }
  bool on_key(Text part, std::size_t, error_code&) {
    key.append(part.data(), part.size());
    open.back().push_back(std::move(key));
    key.clear();
    return true;
  }
};

/// Notices when an object seems to have a member twice: two of its names have one hash.
struct NameHashes : Nothing {
  std::vector<std::size_t> hashes;  ///< of the names in all open objects, the innermost last
  std::string key;                  ///< the beginning of a name that comes in parts
  bool may_have_duplicates = false;

  bool on_object_end(std::size_t n, error_code&) {
    const auto first = hashes.end() - static_cast<std::ptrdiff_t>(n);
    std::sort(first, hashes.end());
    may_have_duplicates = may_have_duplicates || std::adjacent_find(first, hashes.end()) != hashes.end();
    hashes.erase(first, hashes.end());
    return true;
  }
  bool on_key_part(Text part, std::size_t, error_code&) {
    key.append(part.data(), part.size());
    return true;
  }
  bool on_key(Text part, std::size_t, error_code&) {
    std::string_view name(part.data(), part.size());
    if (!key.empty()) name = key.append(name);
    hashes.push_back(std::hash<std::string_view>()(name));
    key.clear();
    return true;
  }
};

/// Builds the value.
struct ValueBuilder : NameHashes {
  boost::json::value_stack stack;

  bool on_array_end(std::size_t n, error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_object_end(std::size_t n, error_code& error) {
    stack.push_object(n);
    return NameHashes::on_object_end(n, error);
  }
  bool on_key_part(Text part, std::size_t n, error_code& error) {
    stack.push_chars(part);
    return NameHashes::on_key_part(part, n, error);
  }
  bool on_key(Text part, std::size_t n, error_code& error) {
    stack.push_key(part);
    return NameHashes::on_key(part, n, error);
  }
  bool on_string_part(Text part, std::size_t, error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_string(Text part, std::size_t, error_code&) {
    stack.push_string(part);
    return true;
  }
  bool on_int64(std::int64_t n, Text, error_code&) {
    stack.push_int64(n);
    return true;
  }
  bool on_uint64(std::uint64_t n, Text, error_code&) {
    stack.push_uint64(n);
    return true;
  }
  bool on_double(double n, Text, error_code&) {
    stack.push_double(n);
    return true;
  }
  bool on_bool(bool b, error_code&) {
    stack.push_bool(b);
    return true;
  }
  bool on_null(error_code&) {
    stack.push_null();
    return true;
  }
};

std::optional<std::string> find_duplicate(std::string_view text, const json::parse_options& options) {
  boost::json::error_code error;
  boost::json::basic_parser<DuplicateFinder> finder(options);
  finder.write_some(false, text.data(), text.size(), error);
  if (finder.handler().duplicate.empty()) return std::nullopt;
  return std::move(finder.handler().duplicate);
}

void write_canonical(const json::value& value, std::string& out) {
  if (value.is_array()) {
    out += '[';
    bool first = true;
    for (const auto& item : value.get_array()) {
      if (!first) out += ',';
      first = false;
      write_canonical(item, out);
    }
    out += ']';
    return;
  }
  if (value.is_object()) {
    std::vector<std::pair<std::string_view, const json::value*>> members;
    for (const auto& member : value.get_object()) members.emplace_back(member.key(), &member.value());
    std::sort(members.begin(), members.end());
    out += '{';
    bool first = true;
    for (const auto& [name, item] : members) {
      if (!first) out += ',';
      first = false;
      out += json::serialize(json::value(json::string(name)));
      out += ':';
      write_canonical(*item, out);
    }
    out += '}';
    return;
  }
  out += json::serialize(value);
}

}  // namespace

Result<json::value> parse_json(std::string_view text, std::size_t depth_max) {
  json::parse_options options;
  options.max_depth = depth_max;
  boost::json::error_code error;
  boost::json::basic_parser<ValueBuilder> parser(options);
  ValueBuilder& builder = parser.handler();
  builder.stack.reset();
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos) error = json::error::extra_data;
  if (error)
    return fail(ErrorCode::invalid_input, fmt::format("This is not JSON: {} at byte {}.", error.message(), read),
                {{"reason", std::string("malformed_json")}, {"at_byte", static_cast<std::int64_t>(read)}});
  if (builder.may_have_duplicates)
    if (auto name = find_duplicate(text, options))
      return fail(ErrorCode::invalid_input,
                  fmt::format("The member '{}' stands twice in one JSON object; send it once.", *name),
                  {{"field", *name}, {"reason", std::string("duplicate_member")}});
  return builder.stack.release();
}

bool fits_into_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kJsonDepthMax;
  boost::json::error_code error;
  boost::json::basic_parser<NameHashes> parser(options);
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  return !error && text.find_first_not_of(" \t\r\n", read) == std::string_view::npos && !parser.handler().may_have_duplicates;
}

std::string canonical_json(const json::value& value) {
  std::string out;
  write_canonical(value, out);
  return out;
}

}  // namespace ff::core
