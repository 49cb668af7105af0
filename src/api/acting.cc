#include "api/acting.h"

#include "api/embedded.h"

namespace ff::api {
namespace {

class ActingBackend final : public Backend {
 public:
  ActingBackend(std::shared_ptr<EmbeddedBackend> embedded, core::Caller caller)
      : embedded_(std::move(embedded)), caller_(std::move(caller)) {}

  void start(std::vector<Submission> requests, bool waits,
             std::function<void(std::size_t, Result<Submitted>)> done) override {
    engine().start(std::move(requests), call(waits), std::move(done));
  }
  void start(std::vector<RenewLease> requests, bool waits,
             std::function<void(std::size_t, Result<LeaseRenewed>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i)
      engine().start(std::move(requests[i]), call(waits),
                     [done, i](Result<LeaseRenewed> result) { done(i, std::move(result)); });
  }
  ClaimCall claim(ClaimRequest request, bool waits, Callback<std::vector<ClaimedTask>> done) override {
    auto cancel = engine().start(std::move(request), call(waits), std::move(done));
    if (!cancel) return {};  // answered already
    // The caller may keep it longer than the engine.
    return ClaimCall([cancel = std::move(cancel), engine = std::weak_ptr(embedded_)] {
      if (auto alive = engine.lock()) cancel();
    });
  }

#define FF_FORWARD(Request, Reply)                                         \
  void start(Request request, bool waits, Callback<Reply> done) override { \
    engine().start(std::move(request), call(waits), std::move(done));      \
  }
  FF_CALLS(FF_FORWARD)
#undef FF_FORWARD

  void close() override { embedded_->close(); }

 private:
  engine::Engine& engine() { return embedded_->engine(); }
  engine::Call call(bool waits) const { return {caller_, waits}; }

  std::shared_ptr<EmbeddedBackend> embedded_;
  core::Caller caller_;
};

}  // namespace

std::shared_ptr<Backend> acting_for(const std::shared_ptr<Backend>& backend, core::Caller caller) {
  auto embedded = std::dynamic_pointer_cast<EmbeddedBackend>(backend);
  if (!embedded) return backend;
  return std::make_shared<ActingBackend>(std::move(embedded), std::move(caller));
}

}  // namespace ff::api
