#pragma once

#include <flowfabric/error.h>

#include <string>
#include <string_view>
#include <vector>

namespace ff::core {

inline constexpr std::size_t kCapabilityTokensMax = 256;
inline constexpr std::size_t kCapabilityBytesMax = 4096;

/// Sorts by bytes and drops repeats. `invalid_capabilities` with detail `<side>:<rule>` when a token or the set breaks
/// a rule; a bad list is never read as "any worker". `side` is `required` or `worker`.
Result<std::vector<std::string>> normalize_capabilities(std::string_view side, std::vector<std::string> tokens);

/// The error for a list that has the wrong form.
Error bad_capabilities(std::string_view side, std::string_view rule);

}  // namespace ff::core
