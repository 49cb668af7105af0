#pragma once

// Described types as JSON text, written straight into it. What is written is what `to_value` would hold.

#include "core/fields.h"

#include <flowfabric/ids.h>

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ff::core {

/// A text in quotes, with what JSON wants escaped. Bytes that are no characters become U+FFFD: a document with one of them
/// would be refused as a whole.
void write_quoted(std::string& out, std::string_view text);

inline void write_json(std::string& out, bool v) { out += v ? "true" : "false"; }
void write_json(std::string& out, double v);
inline void write_json(std::string& out, const std::string& v) { write_quoted(out, v); }
inline void write_json(std::string& out, const Uuid& v) { write_quoted(out, v.to_string()); }
inline void write_json(std::string& out, const ExecutionId& v) { write_quoted(out, v.to_string()); }
template <std::integral I>
  requires(!std::same_as<I, bool>)
void write_json(std::string& out, I v) {
  char digits[24];
  const auto written = std::to_chars(std::begin(digits), std::end(digits), v);
  out.append(digits, written.ptr);
}
template <DescribedEnum E>
void write_json(std::string& out, E v) {
  write_quoted(out, name_of(v));
}
template <class T>
void write_json(std::string& out, const std::vector<T>& v);
template <class T>
void write_json(std::string& out, const std::map<std::string, T>& v);
template <Described T>
void write_json(std::string& out, const T& v);
template <class T>
void write_json(std::string& out, const std::optional<T>& v) {
  if (v)
    write_json(out, *v);
  else
    out += "null";
}

template <class T>
void write_json(std::string& out, const std::vector<T>& v) {
  char before = '[';
  for (const auto& item : v) {
    out += before;
    before = ',';
    write_json(out, item);
  }
  out += before == '[' ? "[]" : "]";
}
template <class T>
void write_json(std::string& out, const std::map<std::string, T>& v) {
  char before = '{';
  for (const auto& [name, item] : v) {
    out += before;
    before = ',';
    write_quoted(out, name);
    out += ':';
    write_json(out, item);
  }
  out += before == '{' ? "{}" : "}";
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// The members of a described value, each after a comma unless it is the first behind an opening brace. Unset optional
/// members are left out.
template <Described T>
void write_members(std::string& out, const T& v) {
  auto write = [&](std::string_view name, const auto& member) {
    if (!out.ends_with('{')) out += ',';
    out.append(1, '"').append(name).append("\":");
    write_json(out, member);
  };
  for_each_field(v, [&](std::string_view name, const auto& member) {
    if constexpr (is_optional<std::remove_cvref_t<decltype(member)>>) {
      if (member) write(name, *member);
    } else {
      write(name, member);
    }
  });
}
template <Described T>
void write_json(std::string& out, const T& v) {
  out += '{';
  write_members(out, v);
  out += '}';
}

/// Compact JSON text of a described value.
template <class T>
std::string to_json_text(const T& v) {
  std::string out;
  write_json(out, v);
  return out;
}

}  // namespace ff::core
