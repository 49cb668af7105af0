#pragma once

#include "core/json.h"

#include <flowfabric/calls.h>

namespace ff::cli {

/// A payload or result as the HTTP API shows it: the value itself when it is JSON, else `{"base64": ...}`.
core::json::value blob_value(const Blob& blob);

}  // namespace ff::cli
