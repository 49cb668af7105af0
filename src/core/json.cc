#include "core/json.h"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>

namespace ff::core {
namespace {

constexpr std::size_t kJsonDepthMax = 64;

/// Notices a member name that an object has twice; everything else is left to the real parser.
struct DuplicateFinder {
  static constexpr std::size_t max_object_size = ~std::size_t{0};
  static constexpr std::size_t max_array_size = ~std::size_t{0};
  static constexpr std::size_t max_key_size = ~std::size_t{0};
  static constexpr std::size_t max_string_size = ~std::size_t{0};
  using error_code = boost::json::error_code;

  std::vector<std::vector<std::string>> open;
  std::string key;
  std::string duplicate;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t, error_code&) { return true; }
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
  bool on_key_part(boost::json::string_view part, std::size_t, error_code&) {
    key.append(part.data(), part.size());
    return true;
  }
  bool on_key(boost::json::string_view part, std::size_t, error_code&) {
    key.append(part.data(), part.size());
    open.back().push_back(std::move(key));
    key.clear();
    return true;
  }
  bool on_string_part(boost::json::string_view, std::size_t, error_code&) { return true; }
  bool on_string(boost::json::string_view, std::size_t, error_code&) { return true; }
  bool on_number_part(boost::json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t, boost::json::string_view, error_code&) { return true; }
  bool on_uint64(std::uint64_t, boost::json::string_view, error_code&) { return true; }
  bool on_double(double, boost::json::string_view, error_code&) { return true; }
  bool on_bool(bool, error_code&) { return true; }
  bool on_null(error_code&) { return true; }
  bool on_comment_part(boost::json::string_view, error_code&) { return true; }
  bool on_comment(boost::json::string_view, error_code&) { return true; }
};

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

Result<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kJsonDepthMax;
  boost::json::error_code error;
  boost::json::basic_parser<DuplicateFinder> finder(options);
  const std::size_t read = finder.write_some(false, text.data(), text.size(), error);
  if (!error && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos) error = json::error::extra_data;
  if (error)
    return fail(ErrorCode::invalid_input, fmt::format("This is not JSON: {} at byte {}.", error.message(), read),
                {{"reason", std::string("malformed_json")}, {"at_byte", static_cast<std::int64_t>(read)}});
  if (!finder.handler().duplicate.empty())
    return fail(ErrorCode::invalid_input,
                fmt::format("The member '{}' stands twice in one JSON object; send it once.", finder.handler().duplicate),
                {{"field", finder.handler().duplicate}, {"reason", std::string("duplicate_member")}});
  json::value value = json::parse(text, error, {}, options);
  if (error)
    return fail(ErrorCode::invalid_input, fmt::format("This is not JSON: {}.", error.message()),
                {{"reason", std::string("malformed_json")}});
  return value;
}

std::string canonical_json(const json::value& value) {
  std::string out;
  write_canonical(value, out);
  return out;
}

}  // namespace ff::core
