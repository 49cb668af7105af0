#pragma once

// Described types to JSON and back. Reading is strict: unknown members, wrong types and numbers out of range are
// refused with their path; nothing is coerced.

#include "core/errors.h"
#include "core/fields.h"
#include "core/json_write.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace ff::core {

namespace json = boost::json;

inline constexpr std::size_t kJsonDepthMax = 64;
/// Of an answer, in which a value of the largest depth may stand.
inline constexpr std::size_t kAnswerDepthMax = kJsonDepthMax + 8;

/// Parses one JSON document: bounded in depth, duplicate member names refused.
Result<json::value> parse_json(std::string_view text, std::size_t depth_max = kJsonDepthMax);
/// Whether it can be put into another document as it is, and that can still be parsed.
bool fits_into_json(std::string_view text);
/// Compact text with the members of every object sorted by name: equal values give equal texts.
std::string canonical_json(const json::value& value);

// ---- writing ------------------------------------------------------------------------------------------------------

inline json::value to_value(bool v) { return v; }
inline json::value to_value(double v) { return v; }
inline json::value to_value(const std::string& v) { return json::string(v); }
inline json::value to_value(const Uuid& v) { return json::string(v.to_string()); }
inline json::value to_value(const ExecutionId& v) { return json::string(v.to_string()); }
template <std::integral I>
  requires(!std::same_as<I, bool>)
json::value to_value(I v) {
  if constexpr (std::is_signed_v<I>)
    return static_cast<std::int64_t>(v);
  else
    return static_cast<std::uint64_t>(v);
}
template <DescribedEnum E>
json::value to_value(E v) {
  return json::string(name_of(v));
}
template <class T>
json::value to_value(const std::vector<T>& v);
template <class T>
json::value to_value(const std::map<std::string, T>& v);
template <Described T>
json::value to_value(const T& v);
template <class T>
json::value to_value(const std::optional<T>& v) {
  return v ? to_value(*v) : json::value(nullptr);
}

template <class T>
json::value to_value(const std::vector<T>& v) {
  json::array out;
  out.reserve(v.size());
  for (const auto& item : v) out.push_back(to_value(item));
  return out;
}
template <class T>
json::value to_value(const std::map<std::string, T>& v) {
  json::object out;
  for (const auto& [name, item] : v) out.emplace(name, to_value(item));
  return out;
}
/// Unset optional members are left out.
template <Described T>
json::value to_value(const T& v) {
  json::object out;
  for_each_field(v, [&](std::string_view name, const auto& member) {
    if constexpr (is_optional<std::remove_cvref_t<decltype(member)>>) {
      if (member) out.emplace(name, to_value(*member));
    } else {
      out.emplace(name, to_value(member));
    }
  });
  return out;
}

// ---- reading ------------------------------------------------------------------------------------------------------

enum class JsonFault : std::uint8_t { wrong_type, out_of_range, unknown_member, missing, unknown_value };

/// What is wrong with a document, and where.
struct JsonProblem {
  std::string path;
  JsonFault fault = JsonFault::wrong_type;
  std::string expected;  ///< what may stand there instead: "an integer", "one of fair, strict"
};

/// Members without which a value of the type cannot be read; specialised beside the type's description.
template <class T>
inline constexpr std::array<std::string_view, 0> required_members{};

/// The spellings of an enum, in their order.
template <DescribedEnum E>
std::vector<std::string_view> spellings() {
  std::vector<std::string_view> names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) { names.push_back(wire_name(d.name)); });
  return names;
}

/// What becomes of members that the type does not have.
enum class UnknownMembers : std::uint8_t {
  refused,
  ignored,  ///< whoever wrote the document may know more than we do
};

class JsonReader {
 public:
  explicit JsonReader(UnknownMembers unknown = UnknownMembers::refused) : unknown_(unknown) {}

  /// Reads `from` into `to`; on a fault remembers it with its path and answers false.
  template <class T>
  bool read(const json::value& from, T& to) {
    return get(from, to);
  }
  const JsonProblem& problem() const { return problem_; }

 private:
  bool fault(JsonFault kind, std::string expected = {}) {
    problem_.fault = kind;
    problem_.path = path_;
    problem_.expected = std::move(expected);
    return false;
  }
  template <class Step>
  bool below(std::string_view name, Step&& step) {
    const std::size_t size = path_.size();
    if (size > 0 && !name.starts_with('[')) path_ += '.';
    path_ += name;
    const bool good = step();
    if (good) path_.resize(size);
    return good;
  }

  bool get(const json::value& from, bool& to) {
    if (!from.is_bool()) return fault(JsonFault::wrong_type, "true or false");
    to = from.get_bool();
    return true;
  }
  bool get(const json::value& from, double& to) {
    if (from.is_double())
      to = from.get_double();
    else if (from.is_int64())
      to = static_cast<double>(from.get_int64());
    else if (from.is_uint64())
      to = static_cast<double>(from.get_uint64());
    else
      return fault(JsonFault::wrong_type, "a number");
    return true;
  }
  bool get(const json::value& from, std::string& to) {
    if (!from.is_string()) return fault(JsonFault::wrong_type, "a text");
    to.assign(from.get_string().data(), from.get_string().size());
    return true;
  }
  bool get(const json::value& from, Uuid& to) {
    constexpr const char* kExpected = "a UUID of 36 characters";
    if (!from.is_string()) return fault(JsonFault::wrong_type, kExpected);
    auto parsed = Uuid::parse(std::string_view(from.get_string()));
    if (!parsed) return fault(JsonFault::unknown_value, kExpected);
    to = *parsed;
    return true;
  }
  bool get(const json::value& from, ExecutionId& to) {
    constexpr const char* kExpected = "an execution id, {fp:<partition>}:<uuid>";
    if (!from.is_string()) return fault(JsonFault::wrong_type, kExpected);
    auto parsed = ExecutionId::parse(std::string_view(from.get_string()));
    if (!parsed) return fault(JsonFault::unknown_value, kExpected);
    to = *parsed;
    return true;
  }
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  bool get(const json::value& from, I& to) {
    auto out_of_range = [this] {
      return fault(JsonFault::out_of_range, fmt::format("an integer from {} to {}", std::numeric_limits<I>::min(),
                                                        std::numeric_limits<I>::max()));
    };
    if (from.is_int64()) {
      const std::int64_t v = from.get_int64();
      if (!std::in_range<I>(v)) return out_of_range();
      to = static_cast<I>(v);
    } else if (from.is_uint64()) {
      const std::uint64_t v = from.get_uint64();
      if (!std::in_range<I>(v)) return out_of_range();
      to = static_cast<I>(v);
    } else {
      return fault(JsonFault::wrong_type, "an integer");
    }
    return true;
  }
  template <DescribedEnum E>
  bool get(const json::value& from, E& to) {
    auto parsed = from.is_string() ? enum_from<E>(std::string_view(from.get_string())) : std::nullopt;
    if (!parsed)
      return fault(from.is_string() ? JsonFault::unknown_value : JsonFault::wrong_type,
                   fmt::format("one of {}", fmt::join(spellings<E>(), ", ")));
    to = *parsed;
    return true;
  }
  template <class T>
  bool get(const json::value& from, std::optional<T>& to) {
    return get(from, to.emplace());
  }
  template <class T>
  bool get(const json::value& from, std::vector<T>& to) {
    if (!from.is_array()) return fault(JsonFault::wrong_type, "a list");
    to.clear();
    for (std::size_t i = 0; i < from.get_array().size(); ++i)
      if (!below(fmt::format("[{}]", i), [&] { return get(from.get_array()[i], to.emplace_back()); })) return false;
    return true;
  }
  template <class T>
  bool get(const json::value& from, std::map<std::string, T>& to) {
    if (!from.is_object()) return fault(JsonFault::wrong_type, "an object");
    to.clear();
    for (const auto& [name, item] : from.get_object()) {
      T& place = to[std::string(name)];
      if constexpr (is_optional<T>)
        if (item.is_null()) continue;  // the one place where null says something: this entry has no value
      if (!below(name, [&] { return get(item, place); })) return false;
    }
    return true;
  }
  template <Described T>
  bool get(const json::value& from, T& to) {
    if (!from.is_object()) return fault(JsonFault::wrong_type, "an object");
    const json::object& object = from.get_object();
    bool good = true;
    std::size_t known = 0;
    for_each_field(to, [&](std::string_view name, auto& member) {
      if (!good) return;
      const json::value* item = object.if_contains(name);
      if (!item) return;
      ++known;
      good = below(name, [&] { return get(*item, member); });
    });
    if (!good) return false;
    if (known != object.size() && unknown_ == UnknownMembers::refused)
      return below(first_unknown<T>(object), [&] { return fault(JsonFault::unknown_member); });
    for (std::string_view name : required_members<T>)
      if (!object.contains(name)) return below(name, [&] { return fault(JsonFault::missing); });
    return true;
  }
  template <Described T>
  static std::string first_unknown(const json::object& object) {
    const T empty{};
    for (const auto& [name, item] : object) {
      bool known = false;
      for_each_field(empty, [&](std::string_view field, const auto&) { known = known || field == name; });
      if (!known) return std::string(name);
    }
    return {};
  }

  UnknownMembers unknown_;
  std::string path_;
  JsonProblem problem_;
};

}  // namespace ff::core
