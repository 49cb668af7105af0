#pragma once

// Payloads and results between JSON and bytes.

#include "core/base64.h"
#include "core/errors.h"

#include <flowfabric/calls.h>

namespace ff::server {

/// Payloads up to this size stand inside an answer; larger ones are fetched by themselves.
inline constexpr std::uint64_t kInlineBytesMax = 64 * 1024;

using core::base64;
using core::from_base64;

/// The bytes that a JSON value stands for: those of an object whose only member is `base64`, else the text of the value
/// itself. The label is what the caller gave, or what fits the form.
Result<Blob> blob_of(std::string_view field, std::string_view json, const std::optional<std::string>& content_type);

/// How it stands in an answer: as it is if it is JSON, else `{"base64": ...}`.
std::string blob_text(std::string_view bytes, std::string_view content_type);

}  // namespace ff::server
