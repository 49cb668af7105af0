#pragma once

// JSON as text: payloads are kept byte for byte, so they are cut out of bodies and put into bodies unread.

#include "core/json.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ff::core {

struct RawMember {
  std::string name;
  std::string_view text;  ///< from the first to the last byte of the value
};

/// The members of an object, in their order. `object` is valid JSON.
std::vector<RawMember> raw_members(std::string_view object);
/// The elements of an array. `array` is valid JSON.
std::vector<std::string_view> raw_elements(std::string_view array);

/// The one member of an object that has no other; none of what is no such object. `json` is valid JSON.
std::optional<RawMember> sole_member(std::string_view json);

/// Puts an object together from values and from texts that are JSON already.
class ObjectText {
 public:
  void add(std::string_view name, const json::value& value);
  void add_text(std::string_view name, std::string_view json);
  /// All members of a described value.
  template <class T>
  void add_all(const T& value) {
    write_members(text_, value);
  }
  std::string take() &&;

 private:
  std::string text_ = "{";
};

}  // namespace ff::core
