#include "cli/signals.h"

#include <pthread.h>

#include <cerrno>
#include <ctime>

namespace ff::cli {

SignalQueue::SignalQueue(std::initializer_list<int> signals) {
  sigemptyset(&signals_);
  for (int signal : signals) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

SignalQueue::~SignalQueue() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> SignalQueue::wait(std::int64_t at_most_ms) const {
  const timespec time{at_most_ms / 1000, (at_most_ms % 1000) * 1'000'000};
  const int signal = sigtimedwait(&signals_, nullptr, &time);
  return signal > 0 ? std::optional(signal) : std::nullopt;
}

}  // namespace ff::cli
