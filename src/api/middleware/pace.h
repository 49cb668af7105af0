#pragma once

#include <flowfabric/pace.h>

namespace ff::api {

/// The same with the machine's time where nothing else was given.
Pace with_machine_time(Pace pace);

inline std::chrono::microseconds since(const Pace& pace, Pace::TimePoint begin) {
  return std::chrono::duration_cast<std::chrono::microseconds>(pace.now() - begin);
}

}  // namespace ff::api
