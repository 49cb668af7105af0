#pragma once

// An engine that refuses every call with one error, or never answers.

#include "api/backend.h"

namespace ff::test {

class FailingBackend final : public api::Backend {
 public:
  Error error;
  bool keeps_silent = false;

  void start(std::vector<Submission> requests, bool, std::function<void(std::size_t, Result<Submitted>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i) done(i, std::unexpected(error));
  }
  void start(std::vector<RenewLease> requests, bool, std::function<void(std::size_t, Result<LeaseRenewed>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i) done(i, std::unexpected(error));
  }
  ClaimCall claim(ClaimRequest, bool, Callback<std::vector<ClaimedTask>> done) override {
    if (!keeps_silent) done(std::unexpected(error));
    return {};
  }
#define FF_REFUSE(Request, Reply)                                      \
  void start(Request, bool, Callback<Reply> done) override {           \
    if (!keeps_silent) done(std::unexpected(error));                   \
  }
  FF_CALLS(FF_REFUSE)
#undef FF_REFUSE
  void close() override {}
};

}  // namespace ff::test
