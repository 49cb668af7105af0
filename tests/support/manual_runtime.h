#pragma once

#include "core/ids.h"
#include "engine/runtime.h"

#include <map>

namespace ff::test {

/// A runtime without threads: time stands still until it is moved, chance comes from a counter, and loops are stepped
/// by the test. Runners count how often they were notified.
class ManualRuntime final : public engine::Runtime {
 public:
  engine::SteadyUs now_us = 1'000'000'000;
  TimeMs now_ms = 1'700'000'000'000;
  bool one_stage_at_a_time = false;
  std::vector<engine::Loop*> loops;  ///< those that were started, in order

  engine::SteadyUs steady_us() override { return now_us; }
  TimeMs wall_ms() override { return now_ms; }
  void random(std::span<std::uint8_t> bytes) override {
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(drawn_++);
  }
  void start(std::string name, engine::Loop& loop, std::unique_ptr<engine::Runner>& runner) override {
    loops.push_back(&loop);
    runner = std::make_unique<Counted>(notified_[name]);
  }
  bool small_steps() const override { return one_stage_at_a_time; }

  int notified(const std::string& name) { return notified_[name]; }

 private:
  class Counted final : public engine::Runner {
   public:
    explicit Counted(int& count) : count_(count) {}
    void notify() override { ++count_; }
    void stop() override {}

   private:
    int& count_;
  };

  std::uint64_t drawn_ = 0;
  std::map<std::string, int> notified_;
};

}  // namespace ff::test
