#include <flowfabric/call_middleware.h>

#include "api/backend.h"

#include <gmock/gmock.h>

namespace ff {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Answers every call at once, with an error when one is set, and counts.
class FakeBackend final : public api::Backend {
 public:
  std::optional<Error> error;
  int calls = 0;
  bool is_silent = false;
  std::vector<std::move_only_function<void()>> kept;  ///< answers while it is silent

#define FF_ANSWER(Request, Reply) \
  void start(Request, bool, Callback<Reply> done) override { answer<Reply>(std::move(done)); }
  FF_CALLS(FF_ANSWER)
#undef FF_ANSWER
  void start(std::vector<Submission> requests, bool, std::function<void(std::size_t, Result<Submitted>)> done) override {
    many<Submitted>(requests.size(), done);
  }
  void start(std::vector<RenewLease> requests, bool, std::function<void(std::size_t, Result<LeaseRenewed>)> done) override {
    many<LeaseRenewed>(requests.size(), done);
  }
  ClaimCall claim(ClaimRequest, bool, Callback<std::vector<ClaimedTask>> done) override {
    answer<std::vector<ClaimedTask>>(std::move(done));
    return ClaimCall([this] { ++cancelled; });
  }
  void close() override {}
  int cancelled = 0;

 private:
  template <class Reply>
  void answer(Callback<Reply> done) {
    ++calls;
    Result<Reply> reply;
    if (error) reply = std::unexpected(*error);
    if (is_silent)
      kept.emplace_back([done = std::move(done), reply]() mutable { done(std::move(reply)); });
    else
      done(std::move(reply));
  }
  template <class Reply>
  void many(std::size_t count, const std::function<void(std::size_t, Result<Reply>)>& done) {
    ++calls;
    for (std::size_t i = 0; i < count; ++i)
      done(i, error && i > 0 ? Result<Reply>(std::unexpected(*error)) : Result<Reply>(Reply{}));
  }
};

class CallMiddlewareTest : public ::testing::Test {
 protected:
  Pace pace() {
    return {[this] { return now; }, {}};
  }
  /// What it saw, as words.
  CallMiddleware noting(const std::string& who) {
    return {.before =
                [this, who](const CallInfo& call) {
                  notes.push_back(who + " before " + std::string(call.name));
                  return std::optional<Error>();
                },
            .after =
                [this, who](const CallInfo& call, std::chrono::microseconds, const Error* error) {
                  notes.push_back(who + " after " + std::string(call.name) + (error ? " failed" : ""));
                }};
  }
  static Error unreachable() { return {ErrorCode::store_unavailable, "nobody there", {}}; }

  std::shared_ptr<FakeBackend> backend = std::make_shared<FakeBackend>();
  Fabric fabric{backend};
  std::vector<std::string> notes;
  Pace::TimePoint now = Pace::TimePoint() + 1h;
};

TEST_F(CallMiddlewareTest, the_last_added_is_the_outermost) {
  const Fabric both = with(with(fabric, noting("inner")), noting("outer"));
  EXPECT_TRUE(both.cancel(ExecutionId{}));
  EXPECT_THAT(notes, ElementsAre("outer before cancel_execution", "inner before cancel_execution",
                                 "inner after cancel_execution", "outer after cancel_execution"));
  notes.clear();
  EXPECT_TRUE(fabric.cancel(ExecutionId{}));
  EXPECT_THAT(notes, IsEmpty()) << "the fabric beneath stays as it was";
}

TEST_F(CallMiddlewareTest, every_call_goes_through) {
  const Fabric watched = with(fabric, noting("it"));
  (void)watched.submit({});
  (void)watched.submit_all(std::vector<Submission>(3));
  (void)watched.renew_all(std::vector<RenewLease>(2));
  (void)watched.complete({});
  (void)watched.info();
  (void)watched.deregister_worker({});
  const ClaimCall claim = watched.claim({}, [](const auto&) {});
  claim.cancel();
  EXPECT_EQ(backend->cancelled, 1) << "a claim can still be ended";
  EXPECT_THAT(notes, SizeIs(14)) << "many items are one call";
  EXPECT_EQ(notes[12], "it before claim_request");
}

TEST_F(CallMiddlewareTest, who_is_refused_does_not_reach_the_fabric) {
  const CallMiddleware refusing{.before = [](const CallInfo&) { return std::optional(unreachable()); }};
  const Fabric closed = with(with(fabric, refusing), noting("outer"));
  EXPECT_FALSE(closed.info());
  EXPECT_FALSE(closed.claim({}));
  for (const auto& result : closed.submit_all(std::vector<Submission>(2))) EXPECT_FALSE(result);
  EXPECT_EQ(backend->calls, 0);
  EXPECT_THAT(notes, SizeIs(6));
  EXPECT_EQ(notes[1], "outer after get_info failed");
}

TEST_F(CallMiddlewareTest, of_many_items_one_that_succeeds_counts) {
  backend->error = unreachable();
  const Fabric watched = with(fabric, noting("it"));
  (void)watched.submit_all(std::vector<Submission>(3));
  EXPECT_EQ(notes.back(), "it after submission");
}

TEST_F(CallMiddlewareTest, figures_and_lines) {
  auto metrics = std::make_shared<CallMetrics>();
  std::vector<std::string> lines;
  const LogSink sink = [&](LogLevel level, std::string_view, std::span<const LogField> fields) {
    lines.push_back((level == LogLevel::warn ? "WARN " : "") + fields[0].value + " " + fields[3].value);
  };
  const Fabric watched = with(with(fabric, count_calls(metrics), pace()), log_calls(sink), pace());
  EXPECT_TRUE(watched.info());
  backend->error = unreachable();
  EXPECT_FALSE(watched.info());
  const auto entries = metrics->snapshot().entries;
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].outcome, "ok");
  EXPECT_EQ(entries[1].outcome, "transport");
  EXPECT_THAT(metrics->prometheus_text(), HasSubstr("ff_client_call_duration_seconds_count{call=\"get_info\",outcome=\"ok\"} 1"));
  EXPECT_THAT(lines, ElementsAre("get_info ", "WARN get_info store_unavailable: nobody there"));
}

TEST_F(CallMiddlewareTest, T93_a_second_call_over_the_rate_is_refused_and_not_made) {
  const Fabric limited = with(fabric, limit_calls({.per_second = 1, .pace = pace()}));
  EXPECT_TRUE(limited.info());
  const auto refused = limited.info();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::rate_limit_exceeded);
  EXPECT_TRUE(refused.error().retryable());
  EXPECT_EQ(refused.error().context.text("bucket"), "calls");
  EXPECT_EQ(refused.error().context.number("retry_after_ms"), 1'000);
  EXPECT_EQ(backend->calls, 1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(limited.renew({})) << "renewals pass";
    EXPECT_TRUE(limited.complete({})) << "outcomes too";
  }
  now += 1s;
  EXPECT_TRUE(limited.info());
}

TEST_F(CallMiddlewareTest, T93_calls_draw_from_the_buckets_that_they_are_given) {
  CallRateLimit rule{.per_second = 1, .pace = pace()};
  rule.bucket = [](const CallInfo& call) { return std::optional(std::string(call.name)); };
  const Fabric limited = with(fabric, limit_calls(rule));
  EXPECT_TRUE(limited.info());
  EXPECT_TRUE(limited.cancel(ExecutionId{}));
  EXPECT_TRUE(limited.renew({}));
  EXPECT_FALSE(limited.renew({})) << "as the classifier says";
}

TEST_F(CallMiddlewareTest, T93_after_five_faults_the_sixth_is_not_made) {
  const Fabric guarded = with(fabric, break_calls({.pace = pace()}));
  backend->error = Error{ErrorCode::invalid_input, "wrong", {}};
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(guarded.info());
  backend->error = unreachable();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(guarded.info());
  EXPECT_EQ(backend->calls, 25) << "what is wrong with a call never opens it";
  const auto refused = guarded.info();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::store_unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("circuit open"));
  EXPECT_EQ(backend->calls, 25);
  now += 30s;
  EXPECT_FALSE(guarded.info());
  EXPECT_EQ(backend->calls, 26) << "the trial, which failed";
  EXPECT_FALSE(guarded.info());
  EXPECT_EQ(backend->calls, 26);
}

TEST_F(CallMiddlewareTest, T93_a_call_during_the_trial_is_refused_and_does_not_reopen) {
  const Fabric guarded = with(fabric, break_calls({.failures = 1, .pace = pace()}));
  backend->error = unreachable();
  EXPECT_FALSE(guarded.info());
  now += 30s;
  backend->error.reset();
  backend->is_silent = true;
  int answers = 0;
  guarded.list({}, [&](const auto& page) { answers += page ? 1 : 0; });
  EXPECT_EQ(backend->calls, 2);
  guarded.list({}, [&](const auto& page) { EXPECT_FALSE(page); });
  EXPECT_EQ(backend->calls, 2);
  backend->kept.front()();
  EXPECT_EQ(answers, 1);
  backend->is_silent = false;
  EXPECT_TRUE(guarded.info()) << "the trial succeeded";
}

TEST_F(CallMiddlewareTest, T93_all_of_them_stacked) {
  auto metrics = std::make_shared<CallMetrics>();
  const LogSink nowhere = [](LogLevel, std::string_view, std::span<const LogField>) {};
  const Fabric stacked = with(
      with(with(with(fabric, break_calls()), limit_calls({.per_second = 1'000})), count_calls(metrics)), log_calls(nowhere));
  EXPECT_TRUE(stacked.submit({}));
  EXPECT_TRUE(stacked.claim({}));
  EXPECT_TRUE(stacked.renew({}));
  EXPECT_TRUE(stacked.complete({}));
  EXPECT_TRUE(stacked.list());
  EXPECT_EQ(backend->calls, 5);
}

}  // namespace
}  // namespace ff
