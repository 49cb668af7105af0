#include "settlement.h"

#include "clients.h"

#include "core/why.h"

namespace ff::sim {
namespace {

constexpr SteadyUs kSecond = 1'000'000;
/// Longer than the longest back-off of a sweep, plus every delay that anybody asks for.
constexpr SteadyUs kSettleMax = 1'800 * kSecond;
/// How long a candidate may stand beside a claim that waits for it: a poll and a bit.
constexpr SteadyUs kPatience = 4 * kSecond;

}  // namespace

void Settlement::run() {
  world_.heal();
  // Calls of before may still change lanes; they come first.
  if (!live_until(kSettleMax, [&] { return old_calls_answered(); })) return;
  // One lane stays closed for a while: what stands in it must say so, and everything else must come to its end.
  const std::set<std::string> held = {kLanes.front()};
  set_lanes(LaneState::paused, LaneState::active);
  if (!live_until(kSettleMax, [&] { return all_ended(held); })) return;
  check_held(held);
  set_lanes(LaneState::active, LaneState::active);
  if (!live_until(kSettleMax, [&] { return all_ended({}); })) return;
  check_counts();
  check_reads();
  world_.checker_.look_at_everything();
  shut_down();
}

/// Steps until `done`; false when something was wrong or it took too long.
template <class Done>
bool Settlement::live_until(SteadyUs at_most_us, Done done) {
  const SteadyUs until = world_.now_us() + at_most_us;
  for (std::uint64_t i = 0; !world_.verdict_.failed(); ++i) {
    if (i % 16 == 0) {
      if (done()) return true;
      check_patience();
    }
    if (world_.now_us() > until) {
      world_.verdict_.fail("after {} s of peace: {}", at_most_us / kSecond, unfinished());
      return false;
    }
    world_.one_step();
  }
  return false;
}

template <class Reply, class Request>
std::optional<Result<Reply>> Settlement::ask(Request request) {
  std::optional<Result<Reply>> answer;
  Process& process = *world_.any_process();
  const CallRef call = world_.make_call(process, world_.intend(Act::read));
  auto heard = [&](const Result<Reply>& reply) { answer = reply; };
  process.engine().start(std::move(request), engine::Call{}, world_.answer<Reply>(call, heard, [](const auto&) {}));
  live_until(60 * kSecond, [&] { return answer.has_value(); });
  return answer;
}

void Settlement::set_lanes(LaneState first, LaneState others) {
  for (const auto& lane : kLanes) {
    std::optional<Result<Lane>> reply;
    do reply = ask<Lane>(ConfigureLane{lane, lane == kLanes.front() ? first : others, {}, {}, {}});
    while (reply && !*reply && reply->error().code == ErrorCode::resource_exhausted);
    if (reply && !*reply) world_.verdict_.fail("lane '{}' cannot be configured: {}", lane, reply->error().to_string());
  }
}

bool Settlement::all_ended(const std::set<std::string>& held_lanes) const {
  for (const auto& [id, row] : world_.data().executions) {
    const bool waits_in_held = core::is_candidate(row.record) && held_lanes.contains(row.record.lane_id());
    if (!row.record.is_terminal() && !waits_in_held) return false;
  }
  return calls_answered();
}

bool Settlement::old_calls_answered() const {
  for (const auto& [number, call] : world_.open_calls_)
    if (call->made_at < healed_at_) return false;
  return true;
}

/// Calls that were made in the time of faults have been answered; good workers always have a claim waiting.
bool Settlement::calls_answered() const {
  for (const auto& [number, call] : world_.open_calls_)
    if (call->answer_by + 10 * kSecond < world_.now_us()) return false;
  return true;
}

std::string Settlement::unfinished() const {
  for (const auto& [number, call] : world_.open_calls_)
    if (call->answer_by + 10 * kSecond < world_.now_us())
      return fmt::format("call #{} ({}) is not answered", number, name_of(world_.book_.find(number)->act));
  for (const auto& [id, row] : world_.data().executions)
    if (!row.record.is_terminal()) {
      const auto why = core::explain(row.record, {}, world_.now_ms());
      return fmt::format("{} has not ended: {} ({})", id.to_string(), why.reason, why.text);
    }
  return "nothing";
}

/// A wake-up that is lost shows as work that stands beside somebody who waits for it.
void Settlement::check_patience() {
  std::map<ExecutionId, std::pair<std::uint64_t, SteadyUs>> now_waiting;
  for (const auto& [queue, members] : world_.data().queues) {
    const auto lane = world_.data().lanes.find(queue.lane_id);
    if (lane->second.lane_state == LaneState::paused || lane->second.lane_state == LaneState::disabled) continue;
    for (const auto& key : members) {
      const auto& record = world_.data().executions.at(key.id).record;
      auto known = waiting_since_.find(key.id);
      const bool same = known != waiting_since_.end() && known->second.first == record.version;
      now_waiting[key.id] = {record.version, same ? known->second.second : world_.now_us()};
    }
  }
  waiting_since_ = std::move(now_waiting);
  for (const auto& [id, since] : waiting_since_) {
    if (world_.now_us() - since.second < kPatience) continue;
    const auto& queue = *world_.data().executions.at(id).record.queue;
    for (const auto& [number, call] : world_.open_calls_) {
      const Intent& intent = *world_.book_.find(number);
      // It must have begun to wait before, and its own time must not be over.
      const bool waited = call->made_at <= since.second && world_.now_us() <= call->answer_by;
      if (!intent.claim || intent.claim->execution_id || !waited) continue;
      core::WorkerScope scope;
      scope.capabilities.insert(intent.claim->capabilities.begin(), intent.claim->capabilities.end());
      scope.kinds.insert(intent.claim->kinds.begin(), intent.claim->kinds.end());
      scope.namespace_scope = intent.claim->namespace_;
      const auto& lanes = intent.claim->lanes;
      const bool serves_lane = std::find(lanes.begin(), lanes.end(), queue.lane_id) != lanes.end();
      if (!serves_lane || !core::can_serve(scope, queue)) continue;
      world_.verdict_.fail("{} waits for a worker since {} ms, and claim #{} waits for work at p{}", id.to_string(),
                           (world_.now_us() - since.second) / 1000, number, call->process->number());
    }
  }
}

/// What is held says by what.
void Settlement::check_held(const std::set<std::string>& held_lanes) {
  for (const auto& [id, row] : world_.data().executions) {
    if (row.record.is_terminal() || !held_lanes.contains(row.record.lane_id())) continue;
    const auto answer = ask<Execution>(GetExecution{id, 0});
    if (!answer || !*answer) return;  // gone meanwhile, or something else is wrong already
    const Execution& shown = **answer;
    if (shown.state.lifecycle_phase == LifecyclePhase::terminal) return;
    const bool runnable = shown.state.lifecycle_phase == LifecyclePhase::runnable;
    if (runnable && shown.why.text.find("is paused") == std::string::npos)
      world_.verdict_.fail("{} stands in a paused lane and says: {}", id.to_string(), shown.why.text);
    return;  // one is enough: the wording is tested elsewhere
  }
}

/// Counts by the API are those of the records.
void Settlement::check_counts() {
  for (const auto& lane : kLanes) {
    const auto answer = ask<LaneCounts>(GetLaneCounts{lane});
    if (!answer) return;
    if (!*answer) return world_.verdict_.fail("counts: {}", answer->error().to_string());
    std::uint64_t ended = 0;
    for (const auto& [id, row] : world_.data().executions) ended += row.record.lane_id() == lane ? 1 : 0;
    const LaneCounts& counts = **answer;
    // Retention may have removed some since the read.
    const std::uint64_t open =
        counts.eligible.value + counts.active.value + counts.delayed.value + counts.reclaimable.value;
    if (counts.terminal.value < ended || open > 0)
      world_.verdict_.fail("lane '{}' counts {} ended of {}", lane, counts.terminal.value, ended);
  }
}

/// A walk through the list, page by page, meets every execution that was there all the time, once.
void Settlement::check_reads() {
  std::set<ExecutionId> listed;
  ListExecutions request;
  request.limit = 7;
  std::set<ExecutionId> before;
  for (const auto& [id, row] : world_.data().executions) before.insert(id);
  do {
    const auto answer = ask<Page<ExecutionSummary>>(request);
    if (!answer) return;
    if (!*answer) return world_.verdict_.fail("list: {}", answer->error().to_string());
    for (const auto& item : (*answer)->items)
      if (!listed.insert(item.execution_id).second)
        world_.verdict_.fail("{} was listed twice", item.execution_id.to_string());
    request.cursor = (*answer)->next_cursor.value_or("");
  } while (!request.cursor.empty());
  for (const auto& [id, row] : world_.data().executions)
    if (before.contains(id) && !listed.contains(id))
      world_.verdict_.fail("{} is missing from the list", id.to_string());
}

/// Engines that end in good order answer everything: what is queued is run, who waits is told.
void Settlement::shut_down() {
  if (world_.verdict_.failed()) return;
  world_.is_closing_ = true;
  for (auto& process : world_.processes_) {
    // A process that ends runs its queues one after the other without giving anybody a turn, so nobody may be inside the
    // store, its own executors included: on threads they would go on and leave it.
    auto nobody_inside = [&] {
      return std::none_of(world_.processes_.begin(), world_.processes_.end(),
                          [](const auto& any) { return any->in_transaction(); });
    };
    while (!world_.verdict_.failed() && !nobody_inside()) world_.one_step();
    Intent& intent = world_.intend(Act::submit);
    Submission submission;
    submission.execution_kind = kKinds.front();
    submission.creator_identity = Book::tag(intent.call);
    intent.submission = submission;
    auto judged = [this, &intent](const Result<Submitted>& reply) { world_.judge_.submitted(intent, reply); };
    const CallRef call = world_.make_call(*process, intent);
    process->engine().start(submission, engine::Call{}, world_.answer<Submitted>(call, judged, [](const auto&) {}));
    process->shut_down();
    world_.look();
  }
  for (const auto& [number, call] : world_.open_calls_)
    world_.verdict_.fail("call #{} ({}) was not answered by the shutdown", number,
                         name_of(world_.book_.find(number)->act));
}

}  // namespace ff::sim
