#pragma once

#include <string>

namespace ff::server {

/// A page that lists every call, for people; made once, from the table of routes.
const std::string& docs_page();

}  // namespace ff::server
