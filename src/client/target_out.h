#pragma once

// The request line's target: a path, and what is asked for in its query.

#include "client/json_out.h"

namespace ff::client {

/// Everything but letters, digits and `-._~` is encoded.
void append_encoded(std::string& out, std::string_view text);

class TargetOut {
 public:
  explicit TargetOut(std::string_view path) : text_(path) {}

  TargetOut& segment(std::string_view text) {
    text_ += '/';
    append_encoded(text_, text);
    return *this;
  }
  TargetOut& path(std::string_view text) {
    text_ += text;
    return *this;
  }

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, const std::string& value) { add(name, std::string_view(value)); }
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  void add(std::string_view name, I value) {
    add(name, std::string_view(std::to_string(value)));
  }
  void add(std::string_view name, const ExecutionId& id) { add(name, std::string_view(id.to_string())); }
  void add(std::string_view name, const Uuid& id) { add(name, std::string_view(id.to_string())); }
  template <core::DescribedEnum E>
  void add(std::string_view name, E value) {
    add(name, core::name_of(value));
  }
  template <class T>
  void add(std::string_view name, const std::optional<T>& value) {
    if (value) add(name, *value);
  }
  /// A cursor stands there only when there is one.
  void add_page(const std::string& cursor, std::uint32_t limit);

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool has_query_ = false;
};

}  // namespace ff::client
