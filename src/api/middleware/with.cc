// A backend with a middleware around each of its calls.

#include "api/backend.h"
#include "api/middleware/pace.h"

#include <flowfabric/call_middleware.h>

#include <atomic>

namespace ff {
namespace {

/// `CancelExecution` as `cancel_execution`.
std::string small_letters(std::string_view name) {
  std::string out;
  for (char c : name) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_capital && !out.empty()) out += '_';
    out += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

class WrappedBackend final : public api::Backend {
 public:
  WrappedBackend(std::shared_ptr<api::Backend> inner, CallMiddleware middleware, Pace pace)
      : inner_(std::move(inner)), shared_(std::make_shared<Shared>(std::move(middleware), std::move(pace))) {}

#define FF_WRAP(Request, Role)                                     \
  static const std::string name = small_letters(#Request);         \
  around(name, CallRole::Role, std::move(request), waits, std::move(done));
#define FF_FINAL(Request, Reply)                                           \
  void start(Request request, bool waits, Callback<Reply> done) override { \
    FF_WRAP(Request, final)                                                \
  }
#define FF_OTHER(Request, Reply)                                           \
  void start(Request request, bool waits, Callback<Reply> done) override { \
    FF_WRAP(Request, other)                                                \
  }
  FF_FINAL_CALLS(FF_FINAL)
  FF_OTHER_CALLS(FF_OTHER)
#undef FF_OTHER
#undef FF_FINAL
#undef FF_WRAP

  void start(std::vector<Submission> requests, bool waits,
             std::function<void(std::size_t, Result<Submitted>)> done) override {
    around_many("submission", CallRole::other, std::move(requests), waits, std::move(done));
  }
  void start(std::vector<RenewLease> requests, bool waits,
             std::function<void(std::size_t, Result<LeaseRenewed>)> done) override {
    around_many("renew_lease", CallRole::renewal, std::move(requests), waits, std::move(done));
  }
  ClaimCall claim(ClaimRequest request, bool waits, Callback<std::vector<ClaimedTask>> done) override {
    const Begun begun = begin("claim_request", CallRole::other, 1);
    if (begun.refusal) {
      done(std::unexpected(*begun.refusal));
      return {};
    }
    return inner_->claim(std::move(request), waits, ending<std::vector<ClaimedTask>>(begun, std::move(done)));
  }

  void close() override { inner_->close(); }

 private:
  /// What answers need, which may come later than the end of the backend.
  struct Shared {
    Shared(CallMiddleware given, Pace time)
        : middleware(std::move(given)), pace(api::with_machine_time(std::move(time))) {}
    CallMiddleware middleware;
    Pace pace;
    std::atomic<std::uint64_t> calls = 0;
  };
  struct Begun {
    CallInfo call;
    Pace::TimePoint at;
    std::optional<Error> refusal;
  };

  Begun begin(std::string_view name, CallRole role, std::size_t items) {
    Begun begun{{++shared_->calls, name, role, items}, shared_->pace.now(), std::nullopt};
    if (shared_->middleware.before) begun.refusal = shared_->middleware.before(begun.call);
    return begun;
  }
  static void end(const Shared& shared, const Begun& begun, const Error* error) {
    if (shared.middleware.after) shared.middleware.after(begun.call, api::since(shared.pace, begun.at), error);
  }

  template <class Reply>
  Callback<Reply> ending(const Begun& begun, Callback<Reply> done) {
    return [shared = shared_, begun, done = std::move(done)](Result<Reply> reply) mutable {
      end(*shared, begun, reply ? nullptr : &reply.error());
      done(std::move(reply));
    };
  }
  template <class Request, class Reply>
  void around(std::string_view name, CallRole role, Request request, bool waits, Callback<Reply> done) {
    const Begun begun = begin(name, role, 1);
    if (begun.refusal) return done(std::unexpected(*begun.refusal));
    inner_->start(std::move(request), waits, ending<Reply>(begun, std::move(done)));
  }

  /// Many requests are one call, which is over with the last answer.
  struct Many {
    Begun begun;
    std::atomic<std::size_t> left;
    std::mutex mutex;
    std::optional<Error> error;
    bool has_success = false;
  };
  template <class Request, class Reply>
  void around_many(std::string_view name, CallRole role, std::vector<Request> requests, bool waits,
                   std::function<void(std::size_t, Result<Reply>)> done) {
    const std::size_t count = requests.size();
    const Begun begun = begin(name, role, count);
    if (begun.refusal) {
      for (std::size_t i = 0; i < count; ++i) done(i, std::unexpected(*begun.refusal));
      return;
    }
    auto many = std::make_shared<Many>();
    many->begun = begun;
    many->left = count;
    inner_->start(std::move(requests), waits,
                  [shared = shared_, many, done = std::move(done)](std::size_t index, Result<Reply> reply) {
                    {
                      std::lock_guard guard(many->mutex);
                      if (reply)
                        many->has_success = true;
                      else if (!many->error)
                        many->error = reply.error();
                    }
                    if (many->left.fetch_sub(1) == 1)
                      end(*shared, many->begun, many->has_success || !many->error ? nullptr : &*many->error);
                    done(index, std::move(reply));
                  });
  }

  std::shared_ptr<api::Backend> inner_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace

Fabric with(const Fabric& fabric, CallMiddleware middleware, Pace pace) {
  return Fabric(std::make_shared<WrappedBackend>(fabric.backend(), std::move(middleware), std::move(pace)));
}

}  // namespace ff
