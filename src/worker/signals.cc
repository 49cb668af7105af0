#include "worker/signals.h"

namespace ff::worker {
namespace {

// A signal handler can reach nothing but this.
std::atomic<int> signals_seen = 0;

void note_signal(int) { signals_seen.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

SignalWatch::SignalWatch(bool enabled) : enabled_(enabled) {
  if (!enabled_) return;
  before_ = signals_seen.load();
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigaction(SIGTERM, &action, &old_term_);
  sigaction(SIGINT, &action, &old_int_);
}

SignalWatch::~SignalWatch() {
  if (!enabled_) return;
  sigaction(SIGTERM, &old_term_, nullptr);
  sigaction(SIGINT, &old_int_, nullptr);
}

int SignalWatch::count() const { return enabled_ ? signals_seen.load(std::memory_order_relaxed) - before_ : 0; }

}  // namespace ff::worker
