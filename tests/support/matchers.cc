#include "support/matchers.h"

namespace ff::test {

std::string vector_of(const StateVector& s) {
  return fmt::format("{}/{}/{}/{}/{}/{}", core::name_of(s.lifecycle_phase), core::name_of(s.ownership_state),
                     core::name_of(s.eligibility_state), core::name_of(s.blocking_reason),
                     core::name_of(s.terminal_outcome), core::name_of(s.attempt_state));
}

std::vector<std::string> lines_of(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const auto& event : events) {
    std::string line(core::name_of(event.kind));
    if (event.outcome) line += fmt::format(" {}", core::name_of(*event.outcome));
    if (!event.event_type.empty()) line += " " + event.event_type;
    if (event.reason) line += " " + *event.reason;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> lines_of(const std::vector<Attempt>& attempts) {
  std::vector<std::string> lines;
  for (const auto& attempt : attempts) {
    std::string line = fmt::format("{} {} {}", attempt.attempt_index, core::name_of(attempt.attempt_type),
                                   core::name_of(attempt.attempt_state));
    if (attempt.outcome) line += fmt::format(" {}", core::name_of(*attempt.outcome));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ff::test
