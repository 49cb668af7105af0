#pragma once

#include "client/endpoint.h"
#include "client/options.h"

#include <flowfabric/fabric.h>

namespace ff::client {

/// Opens a server by its URL. It is asked once what it is; whether it runs, is one of ours and lets us in is known when
/// this returns. Refusals name the server, never the token.
Result<Fabric> open_remote(const std::string& url, const OpenOptions& options);
/// The same with everything that can be set.
Result<Fabric> open_remote(const std::string& url, ClientOptions options, const OpenOptions& open);

}  // namespace ff::client
