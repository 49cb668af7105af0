#include "store/redis_load.h"

#include "store/open_store.h"

namespace ff::test {
namespace {

using namespace std::chrono_literals;

/// Executions that may wait at a time; beyond it the submitters pause.
constexpr std::size_t kBacklogMax = 2'000;

}  // namespace

Opened open_url(const std::string& url, OpenOptions options) {
  if (!options.log) options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  store::StoreOptions store_options;
  store_options.clock = options.clock;
  store_options.create = options.create;
  store_options.allow_unsafe = options.allow_unsafe_store;
  options.lease_ttl_ms = 2'000;
  return must(open_embedded(must(store::open_store(url, store_options)), std::move(options)));
}

Load::Load(std::vector<Opened> engines, std::uint16_t partitions)
    : engines_(std::move(engines)), partitions_(partitions) {
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const Fabric& fabric = engines_[i].fabric;
    submitters_.emplace_back([this, fabric, i] { submit_loop(fabric, static_cast<std::uint32_t>(i)); });
    for (int j = 0; j < 4; ++j)
      workers_.emplace_back([this, fabric, name = fmt::format("w{}-{}", i, j)] { work_loop(fabric, name); });
  }
}

Load::~Load() {
  submitting_ = working_ = false;
  for (auto& thread : submitters_)
    if (thread.joinable()) thread.join();
  for (auto& thread : workers_)
    if (thread.joinable()) thread.join();
}

bool Load::again(const Error& error, std::string_view call) {
  if (traits(error.code).retryable) {
    ++retries_;
    {
      std::lock_guard guard(mutex_);
      ++retried_[fmt::format("{}: {}", call, error.to_string())];
    }
    std::this_thread::sleep_for(20ms);
    return true;
  }
  // A lease whose claim was answered late, or was taken over meanwhile, is the worker's to give up.
  const bool lost = error.code == ErrorCode::stale_lease || error.code == ErrorCode::lease_expired ||
                    error.code == ErrorCode::execution_not_active;
  std::lock_guard guard(mutex_);
  if (!lost) surprises_.push_back(fmt::format("{}: {}", call, error.to_string()));
  return false;
}

void Load::submit_loop(const Fabric& fabric, std::uint32_t number) {
  for (std::uint32_t count = 1; submitting_; ++count) {
    Submission submission;
    submission.execution_kind = "load";
    submission.execution_id = ExecutionId{static_cast<std::uint16_t>(count % partitions_), {}};
    auto& bytes = submission.execution_id->uuid.bytes;
    bytes[0] = static_cast<std::uint8_t>(number + 1);
    for (std::size_t i = 0; i < 4; ++i) bytes[12 + i] = static_cast<std::uint8_t>(count >> (24 - 8 * i));
    while (true) {
      auto done = fabric.submit(submission);
      if (done) {
        std::lock_guard guard(mutex_);
        submitted_.push_back(*submission.execution_id);
        break;
      }
      if (!again(done.error(), "submit")) break;
    }
    while (submitting_ && submitted() > completed() + kBacklogMax) std::this_thread::sleep_for(1ms);
  }
}

void Load::work_loop(const Fabric& fabric, const std::string& worker) {
  ClaimRequest request = World::request(worker, 10);
  request.wait_ms = 50;
  while (working_) {
    auto tasks = fabric.claim(request);
    if (!tasks) {
      again(tasks.error(), "claim");
      continue;
    }
    for (const auto& task : *tasks) {
      while (true) {
        auto done = fabric.complete({.handle = task.handle});
        if (done) {
          std::lock_guard guard(mutex_);
          completed_.insert(task.execution.execution_id);
          break;
        }
        if (!again(done.error(), "complete")) break;
      }
    }
  }
}

std::size_t Load::completed() const {
  std::lock_guard guard(mutex_);
  return completed_.size();
}

std::size_t Load::submitted() const {
  std::lock_guard guard(mutex_);
  return submitted_.size();
}

std::vector<std::string> Load::surprises() const {
  std::lock_guard guard(mutex_);
  return surprises_;
}

bool Load::finish() {
  submitting_ = false;
  for (auto& thread : submitters_) thread.join();
  const bool done = eventually([&] {
    auto counts = engines_.front().fabric.lane_counts("default");
    return counts &&
           counts->eligible.value + counts->active.value + counts->reclaimable.value + counts->delayed.value == 0;
  });
  working_ = false;
  for (auto& thread : workers_) thread.join();
  if (!done)
    for (const auto& [error, times] : retried_) std::fprintf(stderr, "%d times %s\n", times, error.c_str());
  return done;
}

void Load::expect_all_kept() {
  const Fabric& fabric = engines_.front().fabric;
  for (const auto& id : submitted_) {
    auto execution = fabric.get(id);
    ASSERT_TRUE(execution) << "an acknowledged submission was lost: " << id.to_string() << " "
                           << execution.error().message;
    EXPECT_EQ(execution->state.public_state, PublicState::completed) << id.to_string();
    auto history = fabric.history({.execution_id = id, .cursor = "", .limit = 500});
    ASSERT_TRUE(history) << history.error().message;
    int completions = 0;
    std::set<std::uint64_t> epochs;
    for (const auto& event : history->items) {
      completions += event.kind == EventKind::completion;
      if (event.event_type != "acquired" && event.event_type != "reclaimed") continue;
      EXPECT_TRUE(epochs.insert(*event.lease_epoch).second) << "held twice at one epoch: " << id.to_string();
    }
    EXPECT_EQ(completions, 1) << id.to_string();
  }
  for (const auto& id : completed_)
    EXPECT_EQ(must(fabric.get(id)).state.public_state, PublicState::completed) << id.to_string();
  EXPECT_THAT(must(must(engines_.front().engine->store().open_reader())->verify(20)), ::testing::IsEmpty());
}

}  // namespace ff::test
