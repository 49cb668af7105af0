#include "sim_runtime.h"

namespace ff::sim {

/// What the owner of a loop holds.
class Scheduler::Turn final : public engine::Runner {
 public:
  explicit Turn(std::shared_ptr<Entry> entry) : entry_(std::move(entry)) {}
  ~Turn() override { stop(); }
  void notify() override { entry_->notified = true; }
  void stop() override { entry_->loop = nullptr; }

 private:
  std::shared_ptr<Entry> entry_;
};

std::unique_ptr<engine::Runner> Scheduler::add(std::string name, const bool* paused, engine::Loop& loop) {
  auto entry = std::make_shared<Entry>();
  entry->name = std::move(name);
  entry->paused = paused;
  entry->loop = &loop;
  entries_.push_back(entry);
  return std::make_unique<Turn>(std::move(entry));
}

void Scheduler::pass_time() {
  // Mostly microseconds, as between two steps of a busy machine; now and then a longer wait.
  now_us_ += random_.chance(0.02) ? random_.between(100, 3'000) : random_.between(0, 20);
  SteadyUs next = kNever;
  for (const auto& entry : entries_) {
    if (is_ready(*entry)) return;
    if (entry->loop && !(entry->paused && *entry->paused)) next = std::min(next, entry->wake_at);
  }
  if (next != kNever) now_us_ = std::max(now_us_, next);
}

void Scheduler::step() {
  std::erase_if(entries_, [](const auto& entry) { return !entry->loop; });
  ready_.clear();
  for (const auto& entry : entries_)
    if (is_ready(*entry)) ready_.push_back(entry);
  if (ready_.empty()) return;
  // The entry is kept alive by this copy: a step may stop its own loop.
  const std::size_t at = random_.below(ready_.size());
  const std::shared_ptr<Entry> chosen = ready_[at];
  ++steps_;
  trace_.mark(static_cast<std::uint64_t>(now_us_) ^ at << 56);
  trace_.note("{:>7} {:>12}us  {}", steps_, now_us_, chosen->name);
  chosen->notified = false;
  const SteadyUs wake_at = chosen->loop->step();
  chosen->wake_at = wake_at;
}

}  // namespace ff::sim
