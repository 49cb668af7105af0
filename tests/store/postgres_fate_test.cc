// A connection that is lost while a batch of a single round trip is under way: nothing is done twice, and nobody is told
// something wrong.

#include "store/postgres_fixture.h"

#include "store/postgres/connection.h"
#include "support/tcp_proxy.h"

#include <atomic>
#include <thread>

namespace ff::test {
namespace {

using namespace std::chrono_literals;

class PostgresFate : public OnPostgres {
 protected:
  enum class Harm : std::uint8_t { none, request_lost, answer_lost, cut_off };

  PostgresFate() : proxy(server.port(), [this](int c, TcpProxy::From from, std::string& b) { return hand(c, from, b); }) {
    auto store = must(store::open_postgres(url_by(proxy.port()), options()));
    OpenOptions with{.sweeps = false, .executors = 1};
    with.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
    opened = must(open_embedded(std::move(store), with));
    for (int i = 0; i < 3; ++i) must(opened.fabric.submit({.execution_kind = "k"}));
    for (const auto& task : claim(3)) must(opened.fabric.complete({.handle = task.handle}));
  }
  ~PostgresFate() override { opened.fabric.close(); }

  TcpProxy::Then hand(int connection, TcpProxy::From from, std::string& bytes) {
    using enum TcpProxy::Then;
    if (from == TcpProxy::From::server) {
      if (connection != swallowed) return pass_on;
      return bytes.find("COMMIT") == std::string::npos ? swallow : cut;
    }
    const bool writes = bytes.find("insert_core") != std::string::npos || bytes.find("move_to_done") != std::string::npos;
    if (!writes || bytes.find("clock_check") == std::string::npos) return pass_on;
    switch (harm.exchange(Harm::none)) {
      case Harm::none: return pass_on;
      case Harm::request_lost: return cut;
      case Harm::answer_lost: swallowed = connection; return pass_on;
      case Harm::cut_off: return pass_on_and_cut;
    }
    return pass_on;
  }
  /// Submits until the harm is done. Returns how many were submitted.
  int submit_under(Harm what) {
    harm = what;
    int count = 0;
    for (; harm != Harm::none && count < 100; ++count) {
      auto submitted = opened.fabric.submit({.execution_kind = "k"});
      EXPECT_TRUE(submitted) << submitted.error().message;
    }
    EXPECT_EQ(harm, Harm::none);
    return count;
  }
  std::vector<ClaimedTask> claim(std::uint32_t max) {
    return must(opened.fabric.claim({.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}, .max = max}));
  }
  /// Submits and claims one whose completion will be harmed.
  ClaimedTask running() {
    must(opened.fabric.submit({.execution_kind = "k"}));
    return claim(1).at(0);
  }
  std::string waiting() { return value("SELECT count(*) FROM ff_exec_core"); }

  std::atomic<Harm> harm = Harm::none;
  std::atomic<int> swallowed = -1;
  TcpProxy proxy;
  Opened opened;
};

TEST_F(PostgresFate, a_submission_that_was_stored_without_an_answer_is_found) {
  EXPECT_EQ(waiting(), "0");
  const int submitted = submit_under(Harm::answer_lost);
  EXPECT_EQ(waiting(), std::to_string(submitted));
}

TEST_F(PostgresFate, a_submission_that_never_arrived_is_made_again) {
  const int submitted = submit_under(Harm::request_lost);
  EXPECT_EQ(waiting(), std::to_string(submitted));
}

TEST_F(PostgresFate, a_submission_that_is_still_under_way_is_waited_for) {
  store::postgres::Connection other(must(store::postgres::parse_url(url())), {});
  ASSERT_TRUE(other.open(10s));
  must(other.execute("BEGIN; LOCK TABLE ff_exec_core IN SHARE MODE"));
  std::jthread release([&] {
    while (harm != Harm::none) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(300ms);
    EXPECT_TRUE(other.execute("COMMIT"));
  });
  const int submitted = submit_under(Harm::cut_off);
  release.join();
  EXPECT_EQ(waiting(), std::to_string(submitted));
}

TEST_F(PostgresFate, a_completion_that_never_arrived_is_made_again) {
  const ClaimedTask task = running();
  harm = Harm::request_lost;
  EXPECT_FALSE(must(opened.fabric.complete({.handle = task.handle})).unchanged);
  EXPECT_EQ(harm, Harm::none);
  EXPECT_EQ(waiting(), "0");
}

TEST_F(PostgresFate, of_a_completion_without_an_answer_one_is_told_that_nothing_is_known_and_may_repeat_it) {
  const ClaimedTask task = running();
  harm = Harm::answer_lost;
  const auto completed = opened.fabric.complete({.handle = task.handle});
  EXPECT_EQ(harm, Harm::none);
  ASSERT_FALSE(completed);
  EXPECT_EQ(completed.error().code, ErrorCode::store_unavailable);
  EXPECT_EQ(completed.error().context.text("reason"), "outcome_unknown");
  EXPECT_TRUE(completed.error().retryable());
  EXPECT_TRUE(must(opened.fabric.complete({.handle = task.handle})).unchanged);
}

}  // namespace
}  // namespace ff::test
