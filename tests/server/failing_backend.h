#pragma once

// An engine that refuses every call with one error, at once or when it is told to.

#include "api/backend.h"

#include <mutex>

namespace ff::test {

class FailingBackend final : public api::Backend {
 public:
  Error error;
  bool keeps_silent = false;  ///< until `answer_held`, which is to be called: what waits here keeps this engine

  /// How many calls have not been answered.
  std::size_t held() {
    std::lock_guard guard(mutex_);
    return held_.size();
  }
  void answer_held() {
    std::lock_guard guard(mutex_);
    for (auto& answer : std::exchange(held_, {})) answer();
  }

  void start(std::vector<Submission> requests, bool, std::function<void(std::size_t, Result<Submitted>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i) done(i, std::unexpected(error));
  }
  void start(std::vector<RenewLease> requests, bool, std::function<void(std::size_t, Result<LeaseRenewed>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i) done(i, std::unexpected(error));
  }
  ClaimCall claim(ClaimRequest, bool, Callback<std::vector<ClaimedTask>> done) override {
    refuse(std::move(done));
    return {};
  }
#define FF_REFUSE(Request, Reply) \
  void start(Request, bool, Callback<Reply> done) override { refuse(std::move(done)); }
  FF_CALLS(FF_REFUSE)
#undef FF_REFUSE
  void close() override {}

 private:
  template <typename Done>
  void refuse(Done done) {
    if (!keeps_silent) return done(std::unexpected(error));
    std::lock_guard guard(mutex_);
    held_.push_back([this, done = std::move(done)]() mutable { done(std::unexpected(error)); });
  }

  std::mutex mutex_;
  std::vector<std::move_only_function<void()>> held_;
};

}  // namespace ff::test
