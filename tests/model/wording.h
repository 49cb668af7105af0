#pragma once

// Answers as texts that are equal when the answers are: what a store mints or keeps for itself is replaced or left out.

#include "core/json.h"

#include <flowfabric/fabric.h>

namespace ff::test {

/// Gives every UUID a short name in the order in which they appear, so that runs with other ids read the same.
class Names {
 public:
  std::string apply(std::string_view text);

 private:
  std::map<std::string, std::size_t, std::less<>> names_;
};

std::string text_of(const Error& error);
std::string text_of(const Blob& blob);
std::string text_of(const ClaimedTask& task);
std::string text_of(const Event& event);
std::string text_of(const Done&);
std::string text_of(const std::optional<std::string>& text);
std::string text_of(const std::optional<Blob>& blob);
template <class T>
std::string text_of(const Result<T>& result);
template <core::Described T>
std::string text_of(const T& value) {
  return core::to_json_text(value);
}
template <class T>
std::string text_of(const std::vector<T>& items) {
  std::string text;
  for (const auto& item : items) text += "\n    " + text_of(item);
  return text.empty() ? "nothing" : text;
}
template <class T>
std::string text_of(const Result<T>& result) {
  return result ? text_of(*result) : text_of(result.error());
}

}  // namespace ff::test
