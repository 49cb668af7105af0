#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ff::core {

/// Base64 (RFC 4648) with its padding.
std::string base64(std::string_view bytes);
/// None unless it is base64 with its padding and nothing else.
std::optional<std::string> from_base64(std::string_view text);

/// The alphabet for addresses and handles, without padding.
std::string base64url(std::string_view bytes);
/// None when a character or the trailing bits are wrong.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace ff::core
