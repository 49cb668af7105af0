#pragma once

// Server-sent events: how they are asked for, and how they are written.

#include "server/http.h"

namespace ff::server {

/// The request asks for events instead of a document.
bool accepts_events(const Headers& headers);

/// One event. `data` is one line of JSON; whoever reads it goes on after `id`.
std::string event_text(std::string_view id, std::string_view event, std::string_view data);
/// Moves the reader's place without an event.
std::string place_text(std::string_view id);

/// What is sent into a silence, so that both sides know the other is there.
inline constexpr std::string_view kHeartbeat = ": still here\n\n";

}  // namespace ff::server
