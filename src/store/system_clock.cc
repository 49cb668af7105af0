#include "store/system_clock.h"

#include <chrono>

namespace ff::store {

TimeMs system_now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace ff::store
