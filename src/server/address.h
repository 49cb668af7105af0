#pragma once

// The forms of texts in settings that name places on the network.

#include <string>

namespace ff::server {

/// `host:port`, `[v6]:port` or `unix:/path`; port 0 picks one.
bool is_address(const std::string& text);
/// Only this machine can reach it.
bool is_local_address(const std::string& text);
/// `scheme://host[:port]` of http or https, without a path, or `*`.
bool is_origin(const std::string& text);
/// What can stand behind `Bearer`.
bool is_token(const std::string& text);

}  // namespace ff::server
