// A data set in every situation, moved from each store into each other one.

#include "core/json.h"
#include "engine/transfer.h"
#include "support/world.h"

#include <future>

namespace ff::test {
namespace {

using engine::Holdings;
using testing::HasSubstr;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

/// An engine registers its lanes after it has opened; until then its data set is not at rest.
Result<Holdings> export_to(World& world, Lines& lines) {
  EXPECT_TRUE(eventually([&] { return !must(world.fabric.lanes({})).items.empty(); }));
  return engine::export_data_set(world.engine().store(), world.engine().dataset(), [&](std::string_view line) -> Result<void> {
    lines.emplace_back(line);
    return {};
  });
}

engine::LineSource source_of(const Lines& lines) {
  return [&lines, at = std::size_t{0}]() mutable -> Result<std::optional<std::string>> {
    return at < lines.size() ? std::optional(lines[at++]) : std::nullopt;
  };
}

Result<Holdings> import_into(store::Store& store, const Lines& lines, const std::string& mark = "this one") {
  return engine::import_data_set(store, source_of(lines), {mark, [](std::uint32_t) {}});
}

/// Sweeps would end what the test has put into the past or the future; nothing here depends on them.
OpenOptions without_sweeps() {
  OpenOptions options;
  options.sweeps = false;
  options.accept_stored_counts = true;
  options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  return options;
}

/// Everything that callers can read, as text.
std::vector<std::string> portrait(World& world) {
  std::vector<std::string> all;
  auto add = [&](std::string_view what, const auto& value) {
    all.push_back(fmt::format("{} {}", what, core::to_json_text(value)));
  };
  for (LaneStatus status : must(world.fabric.lanes({.limit = 500})).items) {
    // Who works, and how fast, is the affair of the processes that are there.
    status.claims_per_s = status.completions_per_s = 0;
    status.workers = 0;
    add("lane", status);
  }
  for (const auto& summary : world.list_all()) {
    const ExecutionId id = summary.execution_id;
    add("listed", summary);
    Execution execution = world.get(id);
    execution.why.text.clear();
    add("execution", execution);
    for (const auto& attempt : world.attempts(id)) add("attempt", attempt);
    for (Event event : world.history(id)) {
      event.event_id = 0;  // the new store counts for itself
      add("event", event);
    }
    for (const auto& blob : {must(world.fabric.payload(id)), must(world.fabric.result(id))})
      all.push_back(blob ? fmt::format("bytes {} {}", blob->content_type, blob->bytes) : "no bytes");
  }
  return all;
}

struct Scene {
  ExecutionId waiting, delayed, completed;
  ClaimedTask done;  ///< the task of `completed`
};

Scene fill(World& world) {
  Scene scene;
  Submission tagged = world.job();
  tagged.tags = {{"colour", "blue"}, {"size", "µ"}};
  tagged.payload = Bytes("\0\xff{\n}", 5);
  tagged.content_type = "application/octet-stream";
  scene.completed = world.submit(tagged);
  scene.done = world.claim();
  must(world.fabric.progress({.handle = scene.done.handle, .progress_pct = 40, .progress_message = "on its way"}));
  world.clock->advance(5);
  must(world.fabric.complete({.handle = scene.done.handle, .result = Bytes("{\"sum\":3}")}));

  world.submit(R"({"retry_policy":{"max_retries":2}})");  // failed once, waits for its retry
  must(world.fail(world.claim(), "try again"));
  const ExecutionId failed = world.submit();
  must(world.fail(must(world.claim_named(failed)).at(0), "no good", FailureClass::permanent));
  const ExecutionId cancelled = world.submit();
  must(world.fabric.cancel(cancelled, "not needed"));
  // Revoked, then cancelled later: a lease event and a completion of different times side by side.
  const ExecutionId revoked = world.submit();
  must(world.claim_named(revoked));
  must(world.fabric.revoke_lease({.execution_id = revoked, .reason = "slow"}));
  world.clock->advance(70);
  must(world.fabric.cancel(revoked, "given up"));
  const ExecutionId left = world.submit();  // revoked and waiting for another worker
  must(world.claim_named(left));
  must(world.fabric.revoke_lease({.execution_id = left}));
  const ExecutionId replayed = world.submit();
  must(world.complete(must(world.claim_named(replayed)).at(0)));
  must(world.fabric.replay(replayed, "once more", "me"));
  must(world.complete(must(world.claim_named(replayed)).at(0)));
  must(world.fabric.replay(replayed, "and again"));
  const ExecutionId worker_delay = world.submit();
  must(world.fabric.delay({.handle = must(world.claim_named(worker_delay)).at(0).handle, .delay_ms = 60'000}));
  const ExecutionId removed = world.submit();  // only its events are left
  must(world.complete(must(world.claim_named(removed)).at(0)));
  must(world.fabric.remove(removed));

  Submission keyed = world.job();
  keyed.execution_id.reset();
  keyed.idempotency_key = "order-7";
  keyed.lane_id = "orders";
  keyed.creator_identity = "shop";
  must(world.fabric.submit(keyed));
  Submission later = world.job(R"({"priority":70,"timeout_policy":{"attempt_timeout_ms":5000}})");
  later.delay_ms = 3'600'000;
  scene.delayed = world.submit(later);
  must(world.fabric.configure_lane({.lane_id = "orders", .lane_state = LaneState::paused, .reason = "stocktaking"}));
  std::promise<Result<engine::MintedToken>> minted;
  world.engine().create_token({.name = "ci", .scopes = {"read"}}, {}, [&](auto token) { minted.set_value(std::move(token)); });
  must(minted.get_future().get());
  scene.waiting = world.submit();
  must(world.fabric.change_priority(scene.waiting, 9));
  return scene;
}

using Pair = std::tuple<StoreUnderTest, StoreUnderTest>;

class Transfer : public testing::TestWithParam<Pair> {};

TEST_P(Transfer, everything_arrives_and_work_goes_on) {
  World from(std::get<0>(GetParam()), without_sweeps());
  const Scene scene = fill(from);
  const auto before = portrait(from);
  Lines lines;
  const Holdings written = must(export_to(from, lines));
  EXPECT_EQ(portrait(from), before) << "an export changes nothing";
  EXPECT_EQ(must(engine::check_export(source_of(lines))), written);

  World to(std::get<1>(GetParam()), without_sweeps());
  to.clock->set(from.now() + to.data_set().lag_ms());  // the same time on stores whose parts differ
  to.start_over(without_sweeps(), [&](std::unique_ptr<store::Store> store) {
    EXPECT_EQ(must(import_into(*store, lines)), written);
    return store;
  });
  EXPECT_EQ(portrait(to), before);
  EXPECT_EQ(written.tokens, 1U);
  EXPECT_THAT(to.faults(), IsEmpty());
  EXPECT_EQ(to.engine().dataset(), from.engine().dataset());

  // A second export says the same as the first, events of what was removed and of lanes included.
  Lines again;
  EXPECT_EQ(must(export_to(to, again)), written);

  EXPECT_TRUE(must(to.complete(scene.done)).unchanged) << "a handle of the old store, and a call repeated after a lost reply";
  Submission keyed;
  keyed.execution_kind = "job";
  keyed.idempotency_key = "order-7";
  keyed.lane_id = "orders";
  keyed.creator_identity = "shop";
  EXPECT_TRUE(must(to.fabric.submit(keyed)).duplicate);
  const ClaimedTask task = must(to.claim_named(scene.waiting)).at(0);
  must(to.complete(task));
  EXPECT_EQ(to.state_of(scene.waiting), PublicState::completed);
  EXPECT_EQ(to.state_of(scene.delayed), PublicState::delayed);
  EXPECT_THAT(to.faults(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Stores, Transfer,
                         testing::Combine(testing::ValuesIn(stores_under_test()), testing::ValuesIn(stores_under_test())),
                         [](const auto& one) {
                           return std::get<0>(one.param).name + "_to_" + std::get<1>(one.param).name;
                         });

// ---- refusals -----------------------------------------------------------------------------------------------------

class TransferRefusals : public testing::TestWithParam<StoreUnderTest> {
 protected:
  /// What importing these lines into a new data set answers, and what opening it afterwards does.
  std::pair<Result<Holdings>, Result<void>> import_new(const Lines& lines) {
    Result<Holdings> imported;
    std::unique_ptr<DataSet> data_set = GetParam().make(world.clock);
    OpenOptions options = without_sweeps();
    options.clock = world.clock;
    auto opened = data_set->open(options, [&](std::unique_ptr<store::Store> store) {
      imported = import_into(*store, lines);
      return store;
    });
    if (!opened) return {std::move(imported), std::unexpected(opened.error())};
    opened->fabric.close();
    return {std::move(imported), {}};
  }

  World world{GetParam(), without_sweeps()};
};

TEST_P(TransferRefusals, a_live_lease_is_named) {
  const ExecutionId id = world.submit();
  world.claim("busy-worker");
  Lines lines;
  const auto refused = export_to(world, lines);
  ASSERT_THAT(refused, RefusedWith(ErrorCode::store_refused, "reason", "not_quiescent"));
  EXPECT_EQ(refused.error().context.text("execution_id"), id.to_string());
  EXPECT_THAT(refused.error().message, HasSubstr("busy-worker"));
  EXPECT_THAT(lines, IsEmpty());
  world.clock->advance(60'000);
  EXPECT_THAT(export_to(world, lines), Succeeds()) << "a lease that ran out holds nobody up";
}

TEST_P(TransferRefusals, what_changes_meanwhile_is_noticed) {
  world.submit();
  Lines lines;
  const auto refused = engine::export_data_set(world.engine().store(), world.engine().dataset(),
                                               [&](std::string_view line) -> Result<void> {
                                                 lines.emplace_back(line);
                                                 if (line.starts_with("{\"execution\"")) world.submit();
                                                 return {};
                                               });
  EXPECT_THAT(refused, RefusedWith(ErrorCode::store_refused, "reason", "not_quiescent"));
  EXPECT_THAT(engine::check_export(source_of(lines)), RefusedWith(ErrorCode::invalid_input, "reason", "cut"));
}

TEST_P(TransferRefusals, a_store_that_has_a_data_set_is_left_alone) {
  world.submit();
  Lines lines;
  must(export_to(world, lines));
  const auto before = portrait(world);
  EXPECT_THAT(import_into(world.engine().store(), lines),
              RefusedWith(ErrorCode::store_refused, "reason", "dataset_mismatch"));
  EXPECT_EQ(portrait(world), before);
  World other(GetParam(), without_sweeps());
  EXPECT_THAT(import_into(other.engine().store(), lines),
              RefusedWith(ErrorCode::store_refused, "reason", "dataset_mismatch"));
  EXPECT_THAT(other.list_all(), IsEmpty());
}

TEST_P(TransferRefusals, half_a_data_set_never_passes_as_a_whole) {
  for (int i = 0; i < 3; ++i) world.submit();
  Lines lines;
  must(export_to(world, lines));
  for (std::size_t kept = 1; kept < lines.size(); ++kept) {
    const auto [imported, opened] = import_new(Lines(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(kept)));
    EXPECT_THAT(imported, RefusedWith(ErrorCode::invalid_input, "reason", "cut")) << kept;
    EXPECT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "import_unfinished")) << kept;
  }
}

TEST_P(TransferRefusals, an_unfinished_import_is_not_continued) {
  world.submit();
  Lines lines;
  must(export_to(world, lines));
  std::unique_ptr<DataSet> data_set = GetParam().make(world.clock);
  OpenOptions options = without_sweeps();
  options.clock = world.clock;
  (void)data_set->open(options, [&](std::unique_ptr<store::Store> store) {
    EXPECT_FALSE(import_into(*store, Lines(lines.begin(), lines.end() - 1), "the first"));
    EXPECT_THAT(import_into(*store, lines, "the second"),
                RefusedWith(ErrorCode::store_refused, "reason", "import_unfinished"));
    return store;
  });
}

TEST_P(TransferRefusals, an_altered_line_is_found) {
  world.submit();
  Lines lines;
  must(export_to(world, lines));
  Lines altered = lines;
  for (auto& line : altered)
    if (const auto at = line.find("\"priority\":0"); at != std::string::npos) line.replace(at, 12, "\"priority\":1");
  ASSERT_NE(altered, lines);
  EXPECT_THAT(engine::check_export(source_of(altered)), RefusedWith(ErrorCode::invalid_input, "reason", "altered"));
  const auto [imported, opened] = import_new(altered);
  EXPECT_THAT(imported, RefusedWith(ErrorCode::invalid_input, "reason", "altered"));
  EXPECT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "import_unfinished"));
}

TEST_P(TransferRefusals, what_is_no_export_or_a_newer_one_is_refused_before_anything_is_written) {
  Lines lines;
  must(export_to(world, lines));
  Lines newer = lines;
  newer[0].replace(newer[0].find("\"format_version\":2"), 18, "\"format_version\":3,\"more\":3");
  const std::pair<Lines, std::string> cases[] = {
      {newer, "newer_format"}, {{}, "cut"}, {{"garbage"}, "not_an_export"}, {{"{}"}, "not_an_export"}, {{"[1]"}, "not_an_export"}};
  for (const auto& [wrong, reason] : cases) {
    const auto [imported, opened] = import_new(wrong);
    EXPECT_THAT(imported, RefusedWith(ErrorCode::invalid_input, "reason", reason));
    EXPECT_THAT(opened, Succeeds()) << reason << ": the store was not touched";
  }
  Lines behind = lines;
  behind.push_back(lines.back());
  EXPECT_THAT(engine::check_export(source_of(behind)), RefusedWith(ErrorCode::invalid_input, "reason", "altered"));
}

INSTANTIATE_TEST_SUITE_P(Stores, TransferRefusals, testing::ValuesIn(stores_under_test()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ff::test
