#pragma once

#include <flowfabric/error_codes.h>

#include <cstdint>
#include <expected>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ff {

/// Every way a call can be refused. The list is closed: a code outside it is never sent.
enum class ErrorCode : std::uint8_t {
#define FF_CODE(name, category, kind, http, retry) name,
  FF_ERROR_CODES(FF_CODE)
#undef FF_CODE
};

/// What kind of fault a code stands for; decides HTTP status and what a caller can do.
enum class ErrorCategory : std::uint8_t {
  not_found,
  validation,
  contention,
  conflict,
  state,
  limit,
  transport,
  unavailable,
  timeout,
  bug,
};

/// What a program should do about it: stop, try again, do the named thing, carry on.
enum class ErrorClass : std::uint8_t { terminal, retryable, cooperative, informational, expected_empty, bug };

/// The fixed properties of a code.
struct ErrorTraits {
  std::string_view name;
  ErrorCategory category;
  ErrorClass error_class;
  int http_status;
  bool retryable;
};

/// Properties of `code`; total over the enum.
const ErrorTraits& traits(ErrorCode code);
/// The code with that wire spelling, if there is one.
std::optional<ErrorCode> parse_error_code(std::string_view name);

/// One typed fact that goes with an error.
using Detail = std::variant<std::int64_t, std::string, std::vector<std::string>>;

/// The typed facts of an error by name, in the order in which they were added.
class ErrorContext {
 public:
  ErrorContext() = default;
  ErrorContext(std::initializer_list<std::pair<std::string, Detail>> items) : items_(items) {}

  void set(std::string name, Detail value);
  /// The value under `name`, or nullptr.
  const Detail* find(std::string_view name) const;
  /// The text under `name`; empty when absent or not a text.
  std::string_view text(std::string_view name) const;
  /// The number under `name`, if it is there and is one.
  std::optional<std::int64_t> number(std::string_view name) const;
  const std::vector<std::pair<std::string, Detail>>& items() const { return items_; }
  bool operator==(const ErrorContext&) const = default;

 private:
  std::vector<std::pair<std::string, Detail>> items_;
};

/// A refusal: a code from the closed list, a sentence that says what happened and what to do, typed facts.
struct Error {
  ErrorCode code = ErrorCode::invariant_violation;
  std::string message;
  ErrorContext context;

  bool retryable() const { return traits(code).retryable; }
  ErrorCategory category() const { return traits(code).category; }
  /// `code: message`, for logs and terminals.
  std::string to_string() const;
};

/// A value, or the error that took its place.
template <class T>
using Result = std::expected<T, Error>;

}  // namespace ff
