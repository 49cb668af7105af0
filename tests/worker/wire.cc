#include "worker/wire.h"

namespace ff::test {

void Wire::refuse_claims(std::optional<ErrorCode> code) {
  std::lock_guard guard(mutex_);
  claim_error_ = code;
}

std::vector<Wire::Claim> Wire::claims() const {
  std::lock_guard guard(mutex_);
  return claims_;
}

std::vector<std::size_t> Wire::renewals() const {
  std::lock_guard guard(mutex_);
  return renewals_;
}

std::vector<std::string> Wire::signs() const {
  std::lock_guard guard(mutex_);
  return signs_;
}

RegisterWorker Wire::introduced() const {
  std::lock_guard guard(mutex_);
  return introduced_;
}

void Wire::refuse_signs(std::optional<ErrorCode> code) {
  std::lock_guard guard(mutex_);
  sign_error_ = code;
}

std::optional<Error> Wire::note_sign(const RegisterWorker& request) {
  {
    std::lock_guard guard(mutex_);
    introduced_ = request;
  }
  return noted("register");
}

std::optional<Error> Wire::noted(const char* sign) {
  std::lock_guard guard(mutex_);
  signs_.emplace_back(sign);
  if (sign_error_) return Error{*sign_error_, "refused by a test", {}};
  if (cut) return unreachable();
  return std::nullopt;
}

ClaimCall Wire::claim(ClaimRequest request, bool waits, Callback<std::vector<ClaimedTask>> done) {
  std::optional<Error> error;
  {
    std::lock_guard guard(mutex_);
    claims_.push_back({request.max, request.kinds, std::chrono::steady_clock::now()});
    if (cut) error = unreachable();
    if (claim_error_) error = Error{*claim_error_, "refused by a test", {}};
  }
  if (error) {
    done(std::unexpected(*error));
    return {};
  }
  return real_->claim(std::move(request), waits,
                      [this, done = std::move(done)](Result<std::vector<ClaimedTask>> tasks) mutable {
                        {
                          std::lock_guard guard(mutex_);
                          if (hold_claims_) return under_way_.emplace_back(std::move(done), std::move(tasks)), void();
                        }
                        done(std::move(tasks));
                      });
}

void Wire::hold_claims() {
  std::lock_guard guard(mutex_);
  hold_claims_ = true;
}

void Wire::deliver_claims() {
  std::unique_lock guard(mutex_);
  hold_claims_ = false;
  auto answers = std::exchange(under_way_, {});
  guard.unlock();
  for (auto& [done, tasks] : answers) done(std::move(tasks));
}

std::size_t Wire::claims_under_way() const {
  std::lock_guard guard(mutex_);
  return under_way_.size();
}

void Wire::start(std::vector<RenewLease> requests, bool waits,
                 std::function<void(std::size_t, Result<LeaseRenewed>)> done) {
  {
    std::lock_guard guard(mutex_);
    renewals_.push_back(requests.size());
  }
  if (swallow_renewals) return;
  if (!cut) return real_->start(std::move(requests), waits, std::move(done));
  for (std::size_t i = 0; i < requests.size(); ++i) done(i, std::unexpected(unreachable()));
}

}  // namespace ff::test
