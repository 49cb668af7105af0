#include "server/event_text.h"

#include <fmt/format.h>

namespace ff::server {

bool accepts_events(const Headers& headers) {
  const std::string* accept = find_header(headers, "Accept");
  if (!accept) return false;
  std::string_view rest = *accept;
  while (!rest.empty()) {
    const std::string_view range = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), range.size() + 1));
    if (media_type(range) == "text/event-stream") return true;
  }
  return false;
}

std::string event_text(std::string_view id, std::string_view event, std::string_view data) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, event, data);
}

std::string place_text(std::string_view id) { return fmt::format("id: {}\n\n", id); }

}  // namespace ff::server
