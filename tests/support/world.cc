#include "support/world.h"

#include <thread>

namespace ff::test {
namespace {

constexpr auto kPatience = std::chrono::minutes(1);
constexpr auto kGlance = std::chrono::milliseconds(1);

}  // namespace

bool eventually(const std::function<bool()>& predicate) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kGlance);
  }
  return true;
}

World::World(const StoreUnderTest& store, OpenOptions options, Time time) : store_(store) {
  if (time == Time::by_hand) clock = std::make_shared<ManualClock>();
  start_over(std::move(options));
}

World::~World() { close_all(); }

void World::open(OpenOptions options, const Wrap& wrap) {
  options.clock = clock;
  if (!options.log) options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  opened_.push_back(must(data_set_->open(std::move(options), wrap)));
}

void World::close_all() {
  fabric = Fabric();
  for (const auto& opened : opened_) opened.close();
  opened_.clear();
}

void World::start_over(OpenOptions options, const Wrap& wrap) {
  close_all();
  data_set_ = store_.make(clock);
  restart(std::move(options), wrap);
}

void World::restart(OpenOptions options, const Wrap& wrap) {
  close_all();
  open(std::move(options), wrap);
  fabric = opened_.front().fabric;
}

Opened World::open_another(OpenOptions options, const Wrap& wrap) {
  open(std::move(options), wrap);
  return opened_.back();
}

Result<void> World::try_open(OpenOptions options) {
  options.clock = clock;
  auto opened = data_set_->open(std::move(options));
  if (!opened) return std::unexpected(opened.error());
  opened->close();
  return {};
}

// ---- time ---------------------------------------------------------------------------------------------------------

TimeMs World::now() const { return must(fabric.info()).server_time_ms; }

void World::advance(TimeMs ms) {
  clock->advance(ms);
  settle();
}

/// The run after next has a new time, and has ended when the one behind it has started: the next one may still go by the
/// time that the sweeps looked at before it was moved, because they look once for all of them.
void World::settle() {
  for (const auto& opened : opened_) {
    std::map<std::string, std::uint64_t> runs;
    for (const auto& sweep : must(opened.fabric.info()).sweeps)
      if (sweep.enabled) runs[sweep.sweep] = sweep.runs + 3;
    const bool settled = eventually([&] {
      clock->advance(0);  // wakes the sweeps
      for (const auto& sweep : must(opened.fabric.info()).sweeps)
        if (sweep.enabled && sweep.runs < runs[sweep.sweep]) return false;
      return true;
    });
    if (!settled) throw std::runtime_error("the sweeps do not run");
  }
}

SweepInfo World::sweep(const Fabric& of, const std::string& name) {
  for (const auto& sweep : must(of.info()).sweeps)
    if (sweep.sweep == name) return sweep;
  throw std::invalid_argument("no sweep is called " + name);
}

// ---- executions ---------------------------------------------------------------------------------------------------

ExecutionId World::next_id(std::uint16_t spread) {
  std::uint16_t partition = 0;
  for (std::uint16_t left = spread;; ++partition)
    if (data_set_->keeps_time(partition) && left-- == 0) break;
  ExecutionId id{partition, {}};
  id.uuid.bytes = {0x01, 0x8f, 0, 0, 0, 0, 0x70, 0, 0x80};
  const std::uint32_t number = ++ids_;
  for (std::size_t i = 0; i < 4; ++i) id.uuid.bytes[12 + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return id;
}

Submission World::job() {
  Submission submission;
  submission.execution_kind = "job";
  submission.execution_id = next_id();
  return submission;
}

Submission World::job(const std::string& policy_json) {
  Submission submission = job();
  submission.policy = must(parse_policy(policy_json));
  return submission;
}

ExecutionId World::submit(Submission submission) { return must(fabric.submit(std::move(submission))).execution_id; }

ClaimRequest World::request(const std::string& worker, std::uint32_t max) {
  ClaimRequest request;
  request.worker_id = "pool";
  request.worker_instance_id = worker;
  request.lanes = {"default"};
  request.max = max;
  return request;
}

ClaimedTask World::claim(const std::string& worker) {
  auto tasks = claim(1, worker);
  if (tasks.size() != 1) throw std::runtime_error("there is nothing to claim");
  return std::move(tasks.front());
}

Result<std::vector<ClaimedTask>> World::claim_named(const ExecutionId& id, const std::string& worker) {
  ClaimRequest named = request(worker);
  named.lanes.clear();
  named.execution_id = id;
  return fabric.claim(std::move(named));
}

std::vector<Attempt> World::attempts(const ExecutionId& id) {
  return must(fabric.attempts({.execution_id = id, .limit = 500})).items;
}

std::vector<Event> World::history(const ExecutionId& id) {
  return must(fabric.history({.execution_id = id, .limit = 500})).items;
}

std::size_t World::count_events(const ExecutionId& id, std::string_view prefix) {
  const auto lines = events(id);
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [&](const std::string& line) { return line.starts_with(prefix); }));
}

std::vector<ExecutionSummary> World::list_all(ExecutionFilter filter) {
  std::vector<ExecutionSummary> all;
  ListExecutions query{.filter = std::move(filter), .limit = 500};
  while (true) {
    auto page = must(fabric.list(query));
    all.insert(all.end(), page.items.begin(), page.items.end());
    if (!page.next_cursor) return all;
    query.cursor = *page.next_cursor;
  }
}

ClaimedTask World::running(const std::string& policy_json) {
  const ExecutionId id = submit(policy_json);
  return must(claim_named(id)).at(0);
}

ClaimedTask World::lost(const std::string& policy_json) {
  ClaimedTask task = running(policy_json);
  advance(30'001);
  return task;
}

std::vector<std::string> World::faults() { return must(must(engine().store().open_reader())->verify(20)); }

}  // namespace ff::test
