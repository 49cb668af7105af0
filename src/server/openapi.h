#pragma once

// The OpenAPI 3.1 document, made from the route table and the described types.

#include "core/json.h"

namespace ff::server {

core::json::object openapi_document();
/// Its text; made once.
const std::string& openapi_text();

}  // namespace ff::server
