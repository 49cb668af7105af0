#pragma once

#include <flowfabric/error.h>

#include <fmt/format.h>

namespace ff::core {

/// Shorthand for `return` of an error from a function that gives a Result.
inline std::unexpected<Error> fail(ErrorCode code, std::string message, ErrorContext context = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(context)});
}

/// `invalid_input` with the field that is wrong and the rule it breaks.
Error invalid_input(std::string_view field, std::string_view reason, std::string message);

/// `corruption`: what is stored contradicts itself. Names record, field and value; never guesses.
Error corruption(std::string_view record, std::string_view field, std::string_view value);

}  // namespace ff::core
