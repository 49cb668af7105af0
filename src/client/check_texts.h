#pragma once

// Texts have to be UTF-8: JSON can carry nothing else. Said here in the words of the engine, before a body is made that
// would be refused as a whole.

#include "core/fields.h"
#include "core/text.h"
#include "core/validate.h"

#include <map>

namespace ff::client {

/// What a program says about a failure or its progress is kept as far as it is text, like everywhere.
inline bool may_be_broken(std::string_view field) { return field == "message" || field == "progress_message"; }

inline core::Fault check_text(std::string_view field, const std::string& text) {
  if (core::is_utf8(text) || may_be_broken(field)) return std::nullopt;
  return core::invalid_input(field, "not_utf8", fmt::format("'{}' is not UTF-8. Give text.", field));
}
template <class T>
core::Fault check_text(std::string_view, const T&) {
  return std::nullopt;
}
template <class T>
  requires core::Described<T>
core::Fault check_text(std::string_view field, const T& value);
template <class T>
core::Fault check_text(std::string_view field, const std::vector<T>& list);
template <class T>
core::Fault check_text(std::string_view field, const std::map<std::string, T>& map);
template <class T>
core::Fault check_text(std::string_view field, const std::optional<T>& value) {
  return value ? check_text(field, *value) : std::nullopt;
}
template <class T>
core::Fault check_text(std::string_view field, const std::vector<T>& list) {
  for (const auto& item : list)
    if (auto fault = check_text(field, item)) return fault;
  return std::nullopt;
}
template <class T>
core::Fault check_text(std::string_view field, const std::map<std::string, T>& map) {
  for (const auto& [name, value] : map) {
    if (auto fault = check_text(field, name)) return fault;
    if (auto fault = check_text(field, value)) return fault;
  }
  return std::nullopt;
}
template <class T>
  requires core::Described<T>
core::Fault check_text(std::string_view, const T& value) {
  core::Fault fault;
  core::for_each_field(value, [&](std::string_view name, const auto& member) {
    if (!fault) fault = check_text(name, member);
  });
  return fault;
}

/// The texts of a request; its payload and result are bytes and may be anything.
template <class Request>
core::Fault check_texts(const Request& request) {
  if constexpr (core::Described<Request>)
    return check_text("", request);
  else
    return std::nullopt;
}

}  // namespace ff::client
