#pragma once

// Requests as JSON text, member by member.

#include "core/json_write.h"

namespace ff::client {

/// Puts an object together, straight into the text of a request.
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
  void add(std::string_view member, std::string_view text) { core::write_quoted(name(member), text); }
  template <class T>
  void add(std::string_view member, const T& value) {
    core::write_json(name(member), value);
  }
  template <class T>
  void add(std::string_view member, const std::optional<T>& value) {
    if (value) core::write_json(name(member), *value);
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

}  // namespace ff::client
