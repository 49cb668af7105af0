#include "cli/dev_samples.h"

#include "core/policy.h"

#include <condition_variable>

namespace ff::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kFirst = 8;         ///< so that there is something to see at once
constexpr milliseconds kEvery(700);
constexpr std::uint64_t kWaitingMax = 50;   ///< more than this waiting in a lane, and nothing new comes

/// False: told to stop before the time was over.
bool pause(milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any over;
  std::unique_lock guard(mutex);
  over.wait_for(guard, stop, time, [] { return false; });
  return !stop.stop_requested();
}

Outcome resize(Task& task) {
  for (std::uint32_t percent = 0; percent < 100; percent += 25) {
    (void)task.progress(percent, "drawing");
    if (!pause(milliseconds(300), task.cancelled())) return fail("stopped");
  }
  return complete(R"({"width":640,"height":480})", "application/json");
}

/// Every second mail meets a busy server at first.
Outcome mail(Task& task) {
  if (!pause(milliseconds(200), task.cancelled())) return fail("stopped");
  const bool is_unlucky = task.execution_id().uuid.bytes.back() % 2 == 0;
  if (is_unlucky && task.attempt_index() == 0) return fail("the mail server is busy");
  return complete(R"({"sent":true})", "application/json");
}

/// One in eight has an address that does not exist: no retry helps.
Outcome invoice(Task& task) {
  if (!pause(milliseconds(400), task.cancelled())) return fail("stopped");
  if (task.execution_id().uuid.bytes.back() % 8 == 0) return fail_permanent("the customer has no address");
  return complete(R"({"pages":2})", "application/json");
}

Submission work(std::string kind, std::string lane, std::string payload) {
  Submission submission;
  submission.execution_kind = std::move(kind);
  submission.lane_id = std::move(lane);
  submission.payload = std::move(payload);
  return submission;
}

}  // namespace

Samples::Samples(Fabric fabric) : fabric_(std::move(fabric)) {
  employ("studio", {"default"}, {{"resize", resize}, {"invoice", invoice}, {"train", resize}});
  employ("mailroom", {"mail"}, {{"mail", mail}});
  Submission nobody = work("train", "default", R"({"model":"large"})");
  if (auto policy = parse_policy(R"({"routing_requirements":{"required_capabilities":["gpu"]}})")) nobody.policy = *policy;
  (void)fabric_.submit(std::move(nobody));
  for (std::uint32_t i = 0; i < kFirst; ++i) submit(i);
  submitter_ = std::jthread([this](const std::stop_token& stop) { keep_coming(stop); });
}

Samples::~Samples() {
  submitter_.request_stop();
  for (Worker& worker : workers_) worker.stop();
  submitter_.join();
  threads_.clear();
}

void Samples::employ(const std::string& pool, std::vector<std::string> lanes,
                     const std::vector<std::pair<std::string, Worker::Handler>>& handlers) {
  WorkerOptions options;
  options.worker_id = pool;
  options.lanes = std::move(lanes);
  options.concurrency = 3;
  options.handle_signals = false;
  options.drain_timeout_ms = 3'000;
  options.stop_grace_ms = 1'000;
  options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  Worker& worker = workers_.emplace_back(fabric_, std::move(options));
  for (const auto& [kind, handler] : handlers) worker.on(kind, handler);
  threads_.emplace_back([&worker] { (void)worker.run(); });
}

/// What cannot be submitted is left out: there is more to come.
void Samples::submit(std::uint32_t number) {
  const std::string payload = fmt::format(R"({{"number":{}}})", number);
  Submission next;
  switch (number % 4) {
    case 0: next = work("resize", "default", payload); break;
    case 1: next = work("mail", "mail", payload); break;
    case 2: next = work("invoice", "default", payload); break;
    default:
      next = work("mail", "mail", payload);
      next.delay_ms = 30'000;
  }
  next.tags = {{"customer", fmt::format("c{}", number % 5)}};
  (void)fabric_.submit(std::move(next));
}

void Samples::keep_coming(const std::stop_token& stop) {
  for (std::uint32_t number = kFirst; pause(kEvery, stop); ++number) {
    const auto lanes = fabric_.lanes();
    const bool is_full = !lanes || std::any_of(lanes->items.begin(), lanes->items.end(), [](const LaneStatus& lane) {
      return lane.depth.eligible.value > kWaitingMax;
    });
    if (!is_full) submit(number);
  }
}

}  // namespace ff::cli
