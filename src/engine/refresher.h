#pragma once

#include "engine/engine.h"

namespace ff::engine {

/// Re-reads the directory from the store: each second for the lanes in use, at once for a claim that knows of nothing,
/// and when something may have changed without this process knowing it.
class Engine::Refresher final : public Loop {
 public:
  Refresher(Engine& engine, std::unique_ptr<store::Reader> reader) : engine_(engine), reader_(std::move(reader)) {}

  void start() { engine_.runtime_.start("ff-directory", *this, runner_); }
  void stop();
  /// Re-reads the lanes of this claim, then lets it go on.
  void ask(PendingClaimPtr claim);
  /// Re-reads soon, and lets those who wait look again: another process has committed something, a lane was resumed, or
  /// the directory may be wrong.
  void look_again();

  SteadyUs step() override;

 private:
  void refresh(const std::string& lane_id);

  Engine& engine_;
  std::unique_ptr<store::Reader> reader_;
  std::unique_ptr<Runner> runner_;
  std::mutex mutex_;
  std::vector<PendingClaimPtr> asked_;
  bool again_ = false;
  bool closed_ = false;
  SteadyUs next_poll_ = 0;
  SteadyUs next_again_ = 0;
};

}  // namespace ff::engine
