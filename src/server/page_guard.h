#pragma once

// A server without tokens lets every program of its machine in. The pages that a browser of that machine shows are not
// meant by that: they come from anywhere.

#include "server/http.h"

#include <flowfabric/error.h>

namespace ff::server {

/// `forbidden` for a request that a foreign page makes to an address of this machine: its `Origin` is neither an allowed
/// one nor the server itself, or its `Host` is a name that somebody else may have pointed here.
std::optional<Error> check_page(const Request& request, const std::vector<std::string>& cors_origins);

/// `localhost`, a name below it, or an address of the loopback interface; with or without a port.
bool is_loopback_host(std::string_view host);

}  // namespace ff::server
