#include "server/health.h"

#include <gmock/gmock.h>

namespace ff::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ServerHealth : public testing::Test {
 protected:
  FabricInfo info(TimeMs now, std::optional<TimeMs> last_run, bool enabled = true) {
    FabricInfo info;
    info.server_time_ms = now;
    SweepInfo& sweep = info.sweeps.emplace_back();
    sweep.sweep = "lease_expiry";
    sweep.interval_ms = 1'000;
    sweep.enabled = enabled;
    sweep.last_run_at_ms = last_run;
    return info;
  }

  std::int64_t steady = 0;
  Health health{[this] { return steady; }};
};

TEST_F(ServerHealth, T39_ready_after_boot_and_a_look) {
  EXPECT_THAT(health.reasons(), ElementsAre(HasSubstr("starting"), HasSubstr("store")));
  health.booted();
  EXPECT_THAT(health.reasons(), ElementsAre(HasSubstr("store")));
  health.looked(info(0, 0));
  EXPECT_THAT(health.reasons(), IsEmpty());
}

TEST_F(ServerHealth, T39_a_store_that_does_not_answer_shows_after_five_seconds) {
  health.booted();
  health.looked(info(0, 0));
  steady = kPingFreshMs;
  health.looked(std::unexpected(Error{ErrorCode::store_unavailable, "gone", {}}));
  EXPECT_THAT(health.reasons(), IsEmpty());
  steady = kPingFreshMs + 1;
  EXPECT_THAT(health.reasons(), ElementsAre(HasSubstr("store")));
  health.looked(info(0, 0));
  EXPECT_THAT(health.reasons(), IsEmpty());
}

TEST_F(ServerHealth, T39_a_sweep_may_be_three_intervals_and_half_a_minute_late) {
  health.booted();
  health.looked(info(133'000, 100'000));
  EXPECT_THAT(health.reasons(), IsEmpty());
  health.looked(info(133'001, 100'000));
  EXPECT_THAT(health.reasons(), ElementsAre(HasSubstr("lease_expiry")));
  health.looked(info(133'001, 100'000, false));
  EXPECT_THAT(health.reasons(), IsEmpty());
}

TEST_F(ServerHealth, T39_a_sweep_that_never_ran_counts_from_the_first_look) {
  health.booted();
  health.looked(info(1'000'000, std::nullopt));
  EXPECT_THAT(health.reasons(), IsEmpty());
  health.looked(info(1'033'001, std::nullopt));
  EXPECT_THAT(health.reasons(), ElementsAre(HasSubstr("lease_expiry")));
}

TEST_F(ServerHealth, T39_draining_is_not_ready) {
  health.booted();
  health.looked(info(0, 0));
  health.drain();
  EXPECT_THAT(health.reasons(), ElementsAre(HasSubstr("shutting down")));
}

}  // namespace
}  // namespace ff::server
