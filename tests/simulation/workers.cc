#include "workers.h"

#include "clients.h"

namespace ff::sim {
namespace {

constexpr std::size_t kTasksMax = 6;
constexpr std::size_t kOldTasksMax = 20;

/// After these the task is not the worker's any more, whatever it wanted.
bool is_final(const Error& error) {
  switch (error.code) {
    case ErrorCode::stale_lease:
    case ErrorCode::lease_expired:
    case ErrorCode::lease_revoked:
    case ErrorCode::execution_not_active:
    case ErrorCode::execution_not_found:
    case ErrorCode::attempt_not_found: return true;
    default: return false;
  }
}

}  // namespace

Worker::Worker(World& world, Scheduler& scheduler, int number, Random random)
    : world_(world), random_(random), instance_(fmt::format("w{}", number)) {
  turn_ = scheduler.add(fmt::format("worker{}", number), nullptr, *this);
}

SteadyUs Worker::step() {
  if (claim_call_ && claim_call_->state != OpenCall::State::pending) claim_call_.reset();
  if (Process* process = world_.any_process()) {
    if (!world_.at_peace() && !old_tasks_.empty() && random_.chance(world_.options().zombie)) {
      const Task zombie = old_tasks_[random_.below(old_tasks_.size())];
      const Act act = next_act(zombie);
      work(*process, zombie, act == Act::forget ? Act::complete : act);
    } else if (!tasks_.empty() && !world_.at_peace() && random_.chance(0.02)) {
      forge(*process, tasks_[random_.below(tasks_.size())]);
    } else if (!tasks_.empty() && (claim_call_ || tasks_.size() >= kTasksMax || random_.chance(0.6))) {
      const Task task = tasks_[random_.below(tasks_.size())];
      const Act act = next_act(task);
      if (act == Act::forget)
        let_go(task.lease);
      else
        work(*process, task, act);
    } else if (!claim_call_ && claim_again_at_ <= world_.now_us()) {
      claim(*process);
    } else if (!world_.at_peace() && claim_call_ && claim_call_->process->incarnation() == claim_call_->incarnation &&
               random_.chance(0.1)) {
      claim_cancelled_ = true;
      cancel_claim_();
    }
  }
  const bool quick = world_.at_peace() ? !claim_call_ || !tasks_.empty() : random_.chance(0.3);
  return world_.now_us() + (quick ? random_.between(200, 20'000) : random_.between(20'000, 700'000));
}

// ---- claiming -----------------------------------------------------------------------------------------------------

ClaimRequest Worker::new_claim() {
  ClaimRequest request;
  request.worker_instance_id = instance_;
  request.lanes = kLanes;
  request.capabilities = kCapabilities;
  request.max = 3;
  request.wait_ms = 10'000;  // longer than a lost wake-up may last, so that one shows
  request.lease_ttl_ms = 5'000;
  if (world_.at_peace()) return request;

  std::erase_if(request.lanes, [&](const auto&) { return random_.chance(0.3); });
  if (request.lanes.empty()) request.lanes.push_back(random_.pick(kLanes));
  if (random_.chance(0.3)) request.capabilities.pop_back();
  if (random_.chance(0.2)) request.kinds.push_back(random_.pick(kKinds));
  if (random_.chance(0.2)) request.namespace_ = random_.pick(kNamespaces);
  request.max = static_cast<std::uint32_t>(random_.between(1, 5));
  request.wait_ms = random_.chance(0.4) ? 0 : static_cast<std::uint32_t>(random_.between(1, 6'000));
  request.lease_ttl_ms = static_cast<std::uint32_t>(random_.between(1'000, 4'000));
  if (random_.chance(0.1)) request.execution_id = world_.any_execution();
  return request;
}

void Worker::claim(Process& process) {
  ClaimRequest request = new_claim();
  Intent& intent = world_.intend(Act::claim);
  if (last_keyed_ && !world_.at_peace() && random_.chance(0.5)) {
    // The same claim again, because its answer was lost or just so: while the leases live it gets them again.
    request = *last_keyed_;
    last_keyed_.reset();
  } else if (!request.execution_id && random_.chance(0.3)) {
    request.idempotency_key = fmt::format("claim{}", intent.call);
    last_keyed_ = request;
  }
  request.worker_id = Book::tag(intent.call);
  intent.id = request.execution_id;
  intent.claim = request;
  claim_call_ = world_.make_call(process, intent, request.wait_ms);
  world_.trace().note("        > #{} claim by {} max {} wait {} key {} name {} to p{}", intent.call, instance_,
                      request.max, request.wait_ms, request.idempotency_key.value_or("-"),
                      request.execution_id ? request.execution_id->to_string() : "-", process.number());
  claim_cancelled_ = false;
  auto judged = [this, &intent, call = claim_call_](const Result<std::vector<ClaimedTask>>& reply) {
    world_.judge().claimed(intent, reply);
    if (reply && reply->empty() && world_.now_us() < call->answer_by && !claim_cancelled_ && !world_.is_closing())
      world_.verdict().fail("claim #{} came back empty before its time was over", intent.call);
  };
  auto react = [this](const Result<std::vector<ClaimedTask>>& reply) {
    if (reply)
      claimed(*reply);
    else if (reply.error().code == ErrorCode::resource_exhausted)
      claim_again_at_ = world_.now_us() + reply.error().context.number("retry_after_ms").value_or(0) * 1000;
    turn_->notify();
  };
  cancel_claim_ = process.engine().start(request, world_.how_to_call(),
                                         world_.answer<std::vector<ClaimedTask>>(claim_call_, judged, react));
}

void Worker::claimed(const std::vector<ClaimedTask>& tasks) {
  for (const auto& given : tasks) {
    const LeaseRef lease{given.execution.execution_id, given.attempt.attempt_id, given.lease_epoch};
    auto same = [&](const Task& task) { return task.handle == given.handle; };
    if (std::find_if(tasks_.begin(), tasks_.end(), same) != tasks_.end()) continue;
    tasks_.push_back({lease, given.handle, std::nullopt});
    // Some callers go on from within the callback.
    if (Process* process = random_.chance(0.1) ? world_.any_process() : nullptr)
      work(*process, Task(tasks_.back()), Act::complete);
  }
}

// ---- working ------------------------------------------------------------------------------------------------------

Act Worker::next_act(const Task& task) {
  if (world_.at_peace()) return Act::complete;
  if (task.tried && random_.chance(0.5)) return *task.tried;
  constexpr auto kFirst = static_cast<std::size_t>(Act::renew), kLast = static_cast<std::size_t>(Act::forget);
  std::uint64_t total = 0;
  for (auto i = kFirst; i <= kLast; ++i) total += world_.options().weights[i];
  std::uint64_t draw = random_.below(total);
  auto chosen = kFirst;
  while (draw >= world_.options().weights[chosen]) draw -= world_.options().weights[chosen++];
  return static_cast<Act>(chosen);
}

void Worker::let_go(const LeaseRef& lease) {
  for (auto it = tasks_.begin(); it != tasks_.end(); ++it) {
    if (it->lease.attempt_id != lease.attempt_id || it->lease.epoch != lease.epoch) continue;
    old_tasks_.push_back(std::move(*it));
    tasks_.erase(it);
    if (old_tasks_.size() > kOldTasksMax) old_tasks_.pop_front();
    return;
  }
}

/// A handle with one character changed is nobody's handle.
void Worker::forge(Process& process, const Task& task) {
  std::string handle = task.handle;
  char& letter = handle[random_.below(handle.size() - 1)];
  letter = letter == 'A' ? 'B' : 'A';
  Intent& intent = world_.intend(Act::renew);
  intent.outcome = Intent::Outcome::refused;
  const CallRef call = world_.make_call(process, intent);
  process.engine().start(RenewLease{handle, {}}, world_.how_to_call(),
                         world_.answer<LeaseRenewed>(
                             call,
                             [this](const Result<LeaseRenewed>& reply) {
                               if (reply || reply.error().code != ErrorCode::invalid_handle)
                                 world_.verdict().fail("an altered handle was not recognised");
                             },
                             [](const auto&) {}));
}

void Worker::work(Process& process, const Task& task, Act act) {
  for (auto& mine : tasks_)
    if (mine.handle == task.handle) mine.tried = act;
  send(process, task, act);
  if (!world_.at_peace() && random_.chance(world_.options().repeat_call)) send(process, task, act);
}

void Worker::send(Process& process, const Task& task, Act act) {
  Intent& intent = world_.intend(act);
  intent.id = task.lease.id;
  intent.lease = task.lease;
  const std::string tag = Book::tag(intent.call);
  world_.trace().note("        > {} {} {} epoch {} by {} to p{}", tag, name_of(act), task.lease.id.to_string(),
                      task.lease.epoch, instance_, process.number());
  Judge& judge = world_.judge();
  auto judged = [&judge, &intent](auto check) {
    return [&judge, &intent, check](const auto& reply) { (judge.*check)(intent, reply); };
  };
  // A call that keeps the lease ends the task only when it is told so; the others end it when they are done.
  auto keep = [this, lease = task.lease](const auto& reply) {
    if (!reply && is_final(reply.error())) let_go(lease);
  };
  auto end = [this, lease = task.lease](const auto& reply) {
    if (reply || is_final(reply.error())) let_go(lease);
  };
  const CallRef call = world_.make_call(process, intent);
  engine::Engine& engine = process.engine();
  const engine::Call how = world_.how_to_call();
  const std::string& handle = task.handle;
  switch (act) {
    case Act::renew: {
      RenewLease request{handle, {}};
      if (random_.chance(0.5)) request.lease_ttl_ms = static_cast<std::uint32_t>(random_.between(1'000, 5'000));
      return engine.start(request, how, world_.answer<LeaseRenewed>(call, judged(&Judge::renewed), keep));
    }
    case Act::progress: {
      const ReportProgress request{handle, static_cast<std::uint32_t>(random_.below(101)), tag};
      return engine.start(request, how, world_.answer<Done>(call, judged(&Judge::progressed), keep));
    }
    case Act::complete: {
      CompleteTask request{handle, tag, {}};
      if (random_.chance(0.1)) request.result.reset();
      return engine.start(request, how, world_.answer<Changed>(call, judged(&Judge::completed), end));
    }
    case Act::fail: {
      const FailTask request{handle, tag, random_.chance(0.8) ? FailureClass::transient : FailureClass::permanent, {}};
      return engine.start(request, how, world_.answer<TaskFailed>(call, judged(&Judge::failed), end));
    }
    case Act::delay: {
      DelayTask request{handle, {}, {}};
      if (random_.chance(0.5))
        request.delay_ms = static_cast<std::uint64_t>(random_.between(0, 4'000));
      else
        request.delay_until_ms = world_.now_ms() + random_.between(-1'000, 4'000);
      return engine.start(request, how, world_.answer<TaskDelayed>(call, judged(&Judge::delayed), end));
    }
    case Act::wait_children:
      return engine.start(WaitChildren{handle, {}}, how, world_.answer<Changed>(call, judged(&Judge::moved), end));
    default:
      return engine.start(CancelTask{handle, tag}, how,
                          world_.answer<Changed>(call, judged(&Judge::cancelled_by_holder), end));
  }
}

}  // namespace ff::sim
