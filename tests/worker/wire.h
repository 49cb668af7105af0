#pragma once

#include "api/backend.h"

#include <atomic>
#include <chrono>
#include <mutex>

namespace ff::test {

/// Stands between a worker and its fabric, as a network would: keeps what goes over it, and can break.
class Wire final : public api::Backend {
 public:
  explicit Wire(std::shared_ptr<api::Backend> real) : real_(std::move(real)) {}

  /// While set, a worker's calls are answered as if nobody could be reached, and are not made.
  std::atomic<bool> cut = false;
  /// So many final calls are made, and their answers get lost.
  std::atomic<int> answers_to_lose = 0;
  /// While set, claims are refused with it.
  void refuse_claims(std::optional<ErrorCode> code);

  /// While held, claims are made and their answers are under way.
  void hold_claims();
  void deliver_claims();
  /// Answers that are under way.
  std::size_t claims_under_way() const;

  struct Claim {
    std::uint32_t max = 0;
    std::vector<std::string> kinds;
    std::chrono::steady_clock::time_point at;
  };
  std::vector<Claim> claims() const;
  /// What was said to the list of workers, by the names of the calls: `register`, `heartbeat`, `deregister`.
  std::vector<std::string> signs() const;
  /// The last introduction of a worker.
  RegisterWorker introduced() const;
  /// While set, signs are refused with it.
  void refuse_signs(std::optional<ErrorCode> code);
  /// While set, renewals are neither made nor answered.
  std::atomic<bool> swallow_renewals = false;

  /// How many leases each renewal call was for.
  std::vector<std::size_t> renewals() const;

  ClaimCall claim(ClaimRequest request, bool waits, Callback<std::vector<ClaimedTask>> done) override;
  void start(std::vector<RenewLease> requests, bool waits,
             std::function<void(std::size_t, Result<LeaseRenewed>)> done) override;
  void start(std::vector<Submission> requests, bool waits,
             std::function<void(std::size_t, Result<Submitted>)> done) override {
    real_->start(std::move(requests), waits, std::move(done));
  }

#define FF_PASS(Request, Reply)                                            \
  void start(Request request, bool waits, Callback<Reply> done) override { \
    pass(std::move(request), waits, std::move(done));                      \
  }
#define FF_FINAL(Request, Reply)                                           \
  void start(Request request, bool waits, Callback<Reply> done) override { \
    final_call(std::move(request), waits, std::move(done));                \
  }
  FF_FINAL_CALLS(FF_FINAL)
  FF_OTHER_CALLS(FF_PASS)
#undef FF_FINAL
#undef FF_PASS

  void close() override { real_->close(); }

 private:
  static Error unreachable() { return {ErrorCode::store_unavailable, "cut by a test", {}}; }

  template <class Request, class Reply>
  void final_call(Request request, bool waits, Callback<Reply> done) {
    if (cut) return done(std::unexpected(unreachable()));
    if (answers_to_lose.fetch_sub(1) > 0) {
      real_->start(std::move(request), waits,
                   [done = std::move(done)](Result<Reply>) mutable { done(std::unexpected(unreachable())); });
      return;
    }
    answers_to_lose = 0;
    real_->start(std::move(request), waits, std::move(done));
  }

  template <class Request, class Reply>
  void pass(Request request, bool waits, Callback<Reply> done) {
    if (auto error = note_sign(request)) return done(std::unexpected(*error));
    real_->start(std::move(request), waits, std::move(done));
  }
  template <class Request>
  std::optional<Error> note_sign(const Request&) {
    return std::nullopt;
  }
  std::optional<Error> note_sign(const RegisterWorker& request);
  std::optional<Error> note_sign(const HeartbeatWorker&) { return noted("heartbeat"); }
  std::optional<Error> note_sign(const DeregisterWorker&) { return noted("deregister"); }
  /// Why the call is not made.
  std::optional<Error> noted(const char* sign);

  std::shared_ptr<api::Backend> real_;
  mutable std::mutex mutex_;
  std::optional<ErrorCode> claim_error_;
  std::vector<Claim> claims_;
  std::vector<std::size_t> renewals_;
  std::vector<std::string> signs_;
  RegisterWorker introduced_;
  std::optional<ErrorCode> sign_error_;
  bool hold_claims_ = false;
  std::vector<std::pair<Callback<std::vector<ClaimedTask>>, Result<std::vector<ClaimedTask>>>> under_way_;
};

}  // namespace ff::test
