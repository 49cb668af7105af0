#pragma once

// Described values as JSON text, straight into the text of a request.

#include "core/fields.h"
#include "core/json.h"

#include <charconv>

namespace ff::client {

/// A text in quotes. Bytes that are no characters become U+FFFD: a body with one of them would be refused as a whole.
void append_json(std::string& out, std::string_view text);
inline void append_json(std::string& out, const std::string& text) { append_json(out, std::string_view(text)); }
inline void append_json(std::string& out, bool value) { out += value ? "true" : "false"; }
inline void append_json(std::string& out, double value) { fmt::format_to(std::back_inserter(out), "{}", value); }
inline void append_json(std::string& out, const Uuid& id) { append_json(out, id.to_string()); }
inline void append_json(std::string& out, const ExecutionId& id) { append_json(out, id.to_string()); }
template <std::integral I>
  requires(!std::same_as<I, bool>)
void append_json(std::string& out, I value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}
template <core::DescribedEnum E>
void append_json(std::string& out, E value) {
  append_json(out, core::name_of(value));
}
template <core::Described T>
void append_json(std::string& out, const T& value);
template <class T>
void append_json(std::string& out, const std::vector<T>& list);
template <class T>
void append_json(std::string& out, const std::map<std::string, T>& map);
template <class T>
void append_json(std::string& out, const std::optional<T>& value) {
  if (value)
    append_json(out, *value);
  else
    out += "null";
}
template <class T>
void append_json(std::string& out, const std::vector<T>& list) {
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    append_json(out, list[i]);
  }
  out += ']';
}
template <class T>
void append_json(std::string& out, const std::map<std::string, T>& map) {
  out += '{';
  bool first = true;
  for (const auto& [name, value] : map) {
    if (!first) out += ',';
    first = false;
    append_json(out, name);
    out += ':';
    append_json(out, value);
  }
  out += '}';
}

/// Puts an object together, member by member.
class ObjectOut {
 public:
  explicit ObjectOut(std::string& out) : out_(out) { out_ += '{'; }

  /// The place for a value.
  std::string& name(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
    return out_;
  }
  template <class T>
  void add(std::string_view member, const T& value) {
    append_json(name(member), value);
  }
  template <class T>
  void add(std::string_view member, const std::optional<T>& value) {
    if (value) append_json(name(member), *value);
  }
  /// Those of a described value; lists and maps without anything in them are left out.
  template <core::Described T>
  void add_members(const T& value) {
    core::for_each_field(value, [&](std::string_view member, const auto& field) {
      if constexpr (requires { field.empty(); requires !std::same_as<std::remove_cvref_t<decltype(field)>, std::string>; })
        if (field.empty()) return;
      add(member, field);
    });
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

template <core::Described T>
void append_json(std::string& out, const T& value) {
  ObjectOut object(out);
  object.add_members(value);
  object.end();
}

}  // namespace ff::client
