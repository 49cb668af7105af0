#pragma once

#include "api/backend.h"
#include "api/end_elsewhere.h"
#include "engine/engine.h"

namespace ff::api {

/// The engine inside this process, with the runtime it lives on.
class EmbeddedBackend final : public Backend, public std::enable_shared_from_this<EmbeddedBackend> {
 public:
  /// The last owner may let go of it on any thread, those of the engine included.
  static std::shared_ptr<EmbeddedBackend> make(std::unique_ptr<engine::Runtime> runtime,
                                               std::unique_ptr<engine::Engine> engine) {
    expect_endings();
    auto destroy = [](EmbeddedBackend* backend) {
      if (engine::on_loop_thread())
        end_elsewhere([backend] { delete backend; });
      else
        delete backend;
    };
    return {new EmbeddedBackend(std::move(runtime), std::move(engine)), destroy};
  }
  ~EmbeddedBackend() override { engine_->shutdown(); }

  engine::Engine& engine() { return *engine_; }

  void start(std::vector<Submission> requests, bool waits,
             std::function<void(std::size_t, Result<Submitted>)> done) override {
    engine_->start(std::move(requests), call(waits), std::move(done));
  }
  void start(std::vector<RenewLease> requests, bool waits,
             std::function<void(std::size_t, Result<LeaseRenewed>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i)
      engine_->start(std::move(requests[i]), call(waits),
                     [done, i](Result<LeaseRenewed> result) { done(i, std::move(result)); });
  }
  ClaimCall claim(ClaimRequest request, bool waits, Callback<std::vector<ClaimedTask>> done) override {
    auto cancel = engine_->start(std::move(request), call(waits), std::move(done));
    return ClaimCall(std::move(cancel));
  }

#define FF_FORWARD(Request, Reply) \
  void start(Request request, bool waits, Callback<Reply> done) override { forward(std::move(request), waits, std::move(done)); }
  FF_CALLS(FF_FORWARD)
#undef FF_FORWARD

  void close() override {
    if (engine::on_loop_thread())
      end_elsewhere([self = shared_from_this()] { self->engine_->shutdown(); });
    else
      engine_->shutdown();
  }

 private:
  EmbeddedBackend(std::unique_ptr<engine::Runtime> runtime, std::unique_ptr<engine::Engine> engine)
      : runtime_(std::move(runtime)), engine_(std::move(engine)) {}

  static engine::Call call(bool waits) { return {{}, waits}; }
  template <class Request, class Reply>
  void forward(Request request, bool waits, Callback<Reply> done) {
    engine_->start(std::move(request), call(waits), std::move(done));
  }

  std::unique_ptr<engine::Runtime> runtime_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace ff::api
