#pragma once

// Payloads and results on the wire: byte for byte, whatever they are.

#include "client/json_out.h"
#include "core/json.h"

#include <flowfabric/calls.h>

namespace ff::client {

/// Adds bytes under `name`, and `content_type` as far as it is needed: as the JSON text that they are, or as
/// `{"base64": ...}`.
void add_blob(ObjectOut& object, std::string_view name, const Bytes& bytes, const std::optional<std::string>& content_type);

/// Whether a JSON value of an answer stands for bytes that are no JSON.
bool is_encoded(const core::json::value& value);
/// The bytes that it stands for; none when it is broken. `text` is the value's own text, for one that is not encoded.
std::optional<Bytes> bytes_of(const core::json::value& value, std::string_view text);

}  // namespace ff::client
