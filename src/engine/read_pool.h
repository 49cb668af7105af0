#pragma once

#include "engine/runtime.h"
#include "store/store.h"

#include <deque>
#include <functional>
#include <mutex>

namespace ff::engine {

/// Runs reads on a few connections, each on its own thread, beside the executors.
class ReadPool {
 public:
  /// Gets a reader, or the error that took its place.
  using Job = std::move_only_function<void(Result<store::Reader*>)>;

  ReadPool(Runtime& runtime, store::Store& store, std::uint32_t queue_max)
      : runtime_(runtime), store_(store), queue_max_(queue_max) {}
  ~ReadPool() { stop(); }

  Result<void> start(std::uint32_t readers);
  void stop();
  void push(Job job);

 private:
  class Worker final : public Loop {
   public:
    Worker(ReadPool& pool, std::unique_ptr<store::Reader> reader) : pool_(pool), reader_(std::move(reader)) {}
    SteadyUs step() override;
    std::unique_ptr<Runner> runner;

   private:
    ReadPool& pool_;
    std::unique_ptr<store::Reader> reader_;
  };

  Runtime& runtime_;
  store::Store& store_;
  std::uint32_t queue_max_;
  std::mutex mutex_;
  std::deque<Job> queue_;
  bool closed_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace ff::engine
