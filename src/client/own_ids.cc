#include "client/own_ids.h"

#include <chrono>

namespace ff::client {

Uuid OwnIds::next() {
  const TimeMs now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::lock_guard guard(mutex_);
  if (now > last_ms_) {
    last_ms_ = now;
    count_ = 0;
  } else if (++count_ > 0xfff) {
    ++last_ms_;
    count_ = 0;
  }
  return core::make_uuid7(last_ms_, count_, random_());
}

}  // namespace ff::client
