#include "engine/sweeps.h"

#include "support/idle_reader.h"
#include "support/manual_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace ff::engine {
namespace {

using core::TimerKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr SteadyUs kSecond = 1'000'000;
const Error kFault{ErrorCode::corruption, "unreadable", {}};

// ---- back-off -----------------------------------------------------------------------------------------------------

TEST(BackOffTest, an_item_is_skipped_for_a_second_then_twice_as_long_up_to_five_minutes) {
  BackOff back_off;
  SteadyUs now = 77;
  EXPECT_FALSE(back_off.skips("x", now));
  for (SteadyUs delay : {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    back_off.failed("x", "fault", now);
    EXPECT_TRUE(back_off.skips("x", now + delay * kSecond - 1)) << delay;
    EXPECT_FALSE(back_off.skips("x", now + delay * kSecond)) << delay;
    EXPECT_FALSE(back_off.skips("y", now));
    now += delay * kSecond;
  }
}

TEST(BackOffTest, a_success_forgets_the_item) {
  BackOff back_off;
  back_off.failed("x", "fault", 0);
  back_off.failed("x", "fault", 0);
  back_off.succeeded("x");
  EXPECT_FALSE(back_off.skips("x", 0));
  EXPECT_EQ(back_off.size(), 0U);
  back_off.failed("x", "fault", 0);
  EXPECT_FALSE(back_off.skips("x", kSecond)) << "it begins anew";
}

TEST(BackOffTest, items_are_listed_with_their_last_error_up_to_a_bound) {
  BackOff back_off;
  back_off.failed("b", "first", 0);
  back_off.failed("b", "second", 0);
  back_off.failed("a", "other", 0);
  EXPECT_THAT(back_off.describe(20), ElementsAre("a: other", "b: second"));
  EXPECT_THAT(back_off.describe(1), ElementsAre("a: other"));
}

// ---- the loop -----------------------------------------------------------------------------------------------------

/// Rows that are due until somebody has dealt with them.
class DueRows : public test::IdleReader {
 public:
  struct State {
    TimeMs now = 1'700'000'000'000;
    bool clock_fails = false, due_fails = false, due_throws = false;
    std::map<TimerKind, std::vector<core::ExecutionRecord>> rows;
    std::vector<core::ExecutionRecord> retired;
    std::vector<core::IdempotencyId> keys;
    std::map<core::DocumentKind, std::vector<core::DocumentId>> documents;
    std::map<TimerKind, int> looks;
  };
  explicit DueRows(State& state) : state_(state) {}

  Result<TimeMs> clock() override {
    if (state_.clock_fails) return core::fail(ErrorCode::store_unavailable, "gone");
    return state_.now;
  }
  Result<store::DueResult> due(const store::DueQuery& query) override {
    ++state_.looks[query.kind];
    if (state_.due_throws) throw std::runtime_error("crashed");
    if (state_.due_fails) return core::fail(ErrorCode::store_unavailable, "gone");
    store::DueResult result;
    for (const auto& row : state_.rows[query.kind]) {
      if (result.due.size() == query.limit) break;
      if (query.accept(row))
        result.due.push_back(row.id);
      else
        ++result.filtered;
    }
    return result;
  }
  Result<std::vector<ExecutionId>> retired(TimeMs, std::uint32_t limit,
                                           const std::function<bool(const core::ExecutionRecord&)>& accept) override {
    std::vector<ExecutionId> found;
    for (const auto& row : state_.retired)
      if (found.size() < limit && accept(row)) found.push_back(row.id);
    return found;
  }
  Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs, std::uint32_t) override { return state_.keys; }
  Result<std::vector<core::DocumentId>> due_documents(core::DocumentKind kind, TimeMs, std::uint32_t) override {
    return state_.documents[kind];
  }

 private:
  State& state_;
};

class SweepsTest : public ::testing::Test {
 protected:
  using Answer = std::move_only_function<void(Result<bool>)>;
  struct Rung {
    ExecutionId id;
    TimerKind kind;
    Answer answer;
  };

  void start(OpenOptions options = {}) {
    Sweeps::Host host;
    host.ring = [this](const ExecutionId& id, TimerKind kind, Answer answer) {
      rung.push_back({id, kind, std::move(answer)});
    };
    host.retire = [this](const ExecutionId& id, Answer answer) { retired.push_back({id, {}, std::move(answer)}); };
    host.sweep = [this](const core::DocumentId& id, Answer answer) {
      forgotten.push_back(id.key);
      answer(true);
    };
    host.forget = [this](const core::IdempotencyId& id, Answer answer) {
      forgotten.push_back(id.idempotency_key);
      answer(true);
    };
    host.with_session = [this](auto task) { sessions.push_back(std::move(task)); };
    sweeps = std::make_unique<Sweeps>(runtime, log, options, std::move(host));
    sweeps->start(std::make_unique<DueRows>(state));
  }

  static core::ExecutionRecord row(int number, std::string namespace_ = "default") {
    core::ExecutionRecord record;
    record.id.uuid.bytes[15] = static_cast<std::uint8_t>(number);
    record.id.uuid.bytes[14] = static_cast<std::uint8_t>(number >> 8);
    record.queue = core::make_queue("default", std::move(namespace_), "job", {});
    return record;
  }
  SweepInfo info(std::string_view name) {
    for (auto& sweep : sweeps->info())
      if (sweep.sweep == name) return sweep;
    ADD_FAILURE() << "no sweep " << name;
    return {};
  }
  /// Runs what is due and answers everything that was rung; returns how many that were.
  std::size_t step(const Result<bool>& answer = true) {
    sweeps->step();
    auto asked = std::exchange(rung, {});
    for (auto& one : asked) one.answer(answer);
    sweeps->step();
    return asked.size();
  }

  test::ManualRuntime runtime;
  std::vector<std::string> said;
  Log log{[this](LogLevel, std::string_view message, std::span<const LogField>) { said.emplace_back(message); }};
  DueRows::State state;
  std::vector<Rung> rung, retired;
  std::vector<std::string> forgotten;
  std::vector<std::move_only_function<void(store::Session&)>> sessions;
  std::unique_ptr<Sweeps> sweeps;
};

TEST_F(SweepsTest, every_kind_of_clock_has_its_sweep) {
  int number = 0;
  for (auto kind : {TimerKind::delay, TimerKind::lease, TimerKind::attempt_timeout, TimerKind::deadline})
    state.rows[kind] = {row(++number)};
  start();
  sweeps->step();
  std::map<int, TimerKind> found;
  for (const auto& one : rung) found.emplace(one.id.uuid.bytes[15], one.kind);
  EXPECT_EQ(
      found,
      (std::map<int, TimerKind>{
          {1, TimerKind::delay}, {2, TimerKind::lease}, {3, TimerKind::attempt_timeout}, {4, TimerKind::deadline}}));
}

TEST_F(SweepsTest, a_sweep_runs_again_when_its_rows_are_answered_and_its_interval_is_over) {
  state.rows[TimerKind::lease] = {row(1), row(2)};
  start();
  sweeps->step();
  ASSERT_EQ(rung.size(), 2U);
  rung[0].answer(true);
  runtime.now_us += 10 * kSecond;
  sweeps->step();
  EXPECT_EQ(state.looks[TimerKind::lease], 1) << "one row is still under way";
  rung[1].answer(false);
  sweeps->step();
  EXPECT_EQ(state.looks[TimerKind::lease], 2);
  EXPECT_EQ(info("lease_expiry").processed, 2U);
  EXPECT_EQ(info("lease_expiry").runs, 2U);
  sweeps->step();
  EXPECT_EQ(state.looks[TimerKind::lease], 2);
}

TEST_F(SweepsTest, intervals_are_the_defaults_or_what_was_given) {
  OpenOptions options;
  options.sweep_interval_ms = {{"lease_expiry", 250}};
  start(options);
  EXPECT_EQ(info("lease_expiry").interval_ms, 250U);
  EXPECT_EQ(info("delayed_promoter").interval_ms, 750U);
  EXPECT_EQ(info("attempt_timeout").interval_ms, 2'000U);
  EXPECT_EQ(info("execution_deadline").interval_ms, 5'000U);
  EXPECT_EQ(info("retention_trimmer").interval_ms, 60'000U);
  sweeps->step();
  runtime.now_us += 250'000;
  sweeps->step();
  EXPECT_EQ(state.looks[TimerKind::lease], 2);
  EXPECT_EQ(state.looks[TimerKind::delay], 1);
}

TEST_F(SweepsTest, a_row_that_fails_is_skipped_for_a_while_and_listed) {
  state.rows[TimerKind::lease] = {row(1)};
  start();
  const std::string key = row(1).id.to_string();
  EXPECT_EQ(step(std::unexpected(kFault)), 1U);
  EXPECT_EQ(info("lease_expiry").errors, 1U);
  EXPECT_EQ(info("lease_expiry").backoff_items, 1U);
  EXPECT_THAT(info("lease_expiry").backoff, ElementsAre(key + ": corruption: unreadable"));

  runtime.now_us += kSecond;
  EXPECT_EQ(step(std::unexpected(kFault)), 1U) << "after a second";
  runtime.now_us += kSecond;
  EXPECT_EQ(step(), 0U) << "now it is two";
  EXPECT_GE(info("lease_expiry").filtered, 1U);
  runtime.now_us += kSecond;
  EXPECT_EQ(step(), 1U);
  EXPECT_THAT(info("lease_expiry").backoff, IsEmpty()) << "a success forgets it";
}

TEST_F(SweepsTest, others_go_on_while_one_row_fails) {
  state.rows[TimerKind::lease] = {row(1), row(2)};
  start();
  sweeps->step();
  rung[0].answer(std::unexpected(kFault));
  rung[1].answer(true);
  rung.clear();
  runtime.now_us += kSecond - 1;
  sweeps->clock_moved();
  sweeps->step();
  ASSERT_EQ(rung.size(), 1U);
  EXPECT_EQ(rung[0].id, row(2).id);
}

TEST_F(SweepsTest, a_full_selection_goes_on_at_once_unless_all_of_it_failed) {
  for (int i = 0; i < 1'500; ++i) state.rows[TimerKind::lease].push_back(row(i));
  start();
  sweeps->step();
  ASSERT_EQ(rung.size(), 1'000U);
  for (auto& one : std::exchange(rung, {})) one.answer(true);
  sweeps->step();
  EXPECT_EQ(rung.size(), 1'000U) << "the rows are still there: without waiting for the interval";
  for (auto& one : std::exchange(rung, {})) one.answer(std::unexpected(kFault));
  EXPECT_GT(sweeps->step(), 0) << "it does not spin";
  EXPECT_EQ(rung.size(), 0U);
}

TEST_F(SweepsTest, a_clock_that_this_process_set_rings_before_the_interval) {
  start();
  sweeps->step();
  std::deque<store::Unit> units(1);
  core::ExecutionRecord record = row(1);
  record.state.eligibility_state = EligibilityState::not_eligible_until_time;
  record.state.blocking_reason = BlockingReason::waiting_for_delay;
  record.timers.delay_until_ms = state.now + 100;
  core::Writes writes(state.now);
  writes.insert(std::move(record));
  ASSERT_EQ(writes.broken(), "");
  units.front().set.apply(std::move(writes));

  units.front().outcome = store::Unit::Outcome::conflict;
  const int before = runtime.notified("ff-sweeps");
  sweeps->committed(units);
  EXPECT_EQ(runtime.notified("ff-sweeps"), before) << "what was not committed sets no clock";

  units.front().outcome = store::Unit::Outcome::committed;
  sweeps->committed(units);
  EXPECT_EQ(runtime.notified("ff-sweeps"), before + 1);
  EXPECT_EQ(sweeps->step(), runtime.now_us + 100'000);
  EXPECT_EQ(state.looks[TimerKind::delay], 1);
  runtime.now_us += 100'000;
  state.now += 100;
  sweeps->step();
  EXPECT_EQ(state.looks[TimerKind::delay], 2);
  EXPECT_EQ(state.looks[TimerKind::lease], 1);
}

TEST_F(SweepsTest, a_clock_moved_by_hand_runs_everything) {
  start();
  sweeps->step();
  sweeps->clock_moved();
  sweeps->step();
  for (auto kind : {TimerKind::delay, TimerKind::lease, TimerKind::attempt_timeout, TimerKind::deadline})
    EXPECT_EQ(state.looks[kind], 2);
}

TEST_F(SweepsTest, an_unreadable_clock_is_looked_at_again_in_a_second) {
  state.clock_fails = true;
  start();
  EXPECT_EQ(sweeps->step(), runtime.now_us + kSecond);
  EXPECT_THAT(said, ::testing::Contains("the store's clock cannot be read"));
  EXPECT_EQ(state.looks[TimerKind::lease], 0);
}

TEST_F(SweepsTest, a_selection_that_fails_is_counted_and_tried_at_the_next_interval) {
  state.due_fails = true;
  start();
  sweeps->step();
  EXPECT_EQ(info("lease_expiry").errors, 1U);
  state.due_fails = false;
  state.rows[TimerKind::lease] = {row(1)};
  sweeps->step();
  EXPECT_THAT(rung, IsEmpty());
  runtime.now_us += kSecond;
  EXPECT_EQ(step(), 1U);
}

TEST_F(SweepsTest, a_crash_ends_one_run_and_the_sweep_starts_again_after_five_seconds) {
  state.due_throws = true;
  state.retired = {row(9)};
  start();
  sweeps->step();
  EXPECT_EQ(info("lease_expiry").restarts, 1U);
  EXPECT_EQ(retired.size(), 1U) << "the other sweeps run";
  state.due_throws = false;
  state.rows[TimerKind::lease] = {row(1)};
  runtime.now_us += 5 * kSecond - 1;
  EXPECT_EQ(step(), 0U);
  runtime.now_us += 1;
  EXPECT_EQ(step(), 1U);
}

TEST_F(SweepsTest, sweeps_that_are_off_do_nothing) {
  OpenOptions options;
  options.sweeps_off = {"lease_expiry"};
  start(options);
  sweeps->step();
  EXPECT_EQ(state.looks[TimerKind::lease], 0);
  EXPECT_EQ(state.looks[TimerKind::delay], 1);
  EXPECT_FALSE(info("lease_expiry").enabled);
  EXPECT_THAT(said, ::testing::Contains("a sweep is off in this process"));

  options.sweeps = false;
  start(options);
  sweeps->step();
  EXPECT_EQ(state.looks[TimerKind::delay], 1);
}

TEST_F(SweepsTest, a_process_can_be_kept_to_one_namespace_and_one_tag) {
  state.rows[TimerKind::lease] = {row(1, "mine"), row(2, "theirs")};
  OpenOptions options;
  options.scanner_namespace = "mine";
  start(options);
  sweeps->step();
  ASSERT_EQ(rung.size(), 1U);
  EXPECT_EQ(rung[0].id, row(1).id);
  EXPECT_EQ(info("lease_expiry").filtered, 1U);

  rung.clear();
  core::ExecutionRecord tagged = row(3);
  tagged.tags = std::make_shared<const Tags>(Tags{{"shard", "b"}});
  state.rows[TimerKind::lease] = {row(1), row(2), tagged};
  options = {};
  options.scanner_instance_tag = std::pair<std::string, std::string>("shard", "b");
  start(options);
  sweeps->step();
  ASSERT_EQ(rung.size(), 1U);
  EXPECT_EQ(rung[0].id, tagged.id);
}

TEST_F(SweepsTest, expired_keys_and_old_events_are_removed) {
  state.keys = {{"default", "create_execution", "k1"}, {"default", "create_execution", "k2"}};
  start();
  sweeps->step();
  EXPECT_THAT(forgotten, ElementsAre("k1", "k2"));
  EXPECT_EQ(sessions.size(), 1U) << "events are trimmed on the session of an executor";
}

TEST_F(SweepsTest, silent_workers_old_tokens_and_old_events_of_the_registry_go) {
  using K = core::DocumentKind;
  state.documents[K::worker] = {{K::worker, " w1"}};
  state.documents[K::worker_event] = {{K::worker_event, "e1"}};
  state.documents[K::api_token] = {{K::api_token, "t1"}};
  start();
  sweeps->step();
  EXPECT_THAT(forgotten, ::testing::UnorderedElementsAre(" w1", "e1", "t1"));
}

TEST_F(SweepsTest, stopping_says_how_many_had_not_finished) {
  state.rows[TimerKind::lease] = {row(1)};
  start();
  sweeps->step();
  EXPECT_EQ(sweeps->stop(), 1);
  EXPECT_EQ(sweeps->stop(), 0);
  EXPECT_EQ(sweeps->step(), kNever);
  EXPECT_EQ(state.looks[TimerKind::lease], 1);
}

}  // namespace
}  // namespace ff::engine
