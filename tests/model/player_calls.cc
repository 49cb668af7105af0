// The calls of a model run besides submitting: working, operating, reading.

#include "model/player.h"

#include <semaphore>

namespace ff::test {

// ---- working ------------------------------------------------------------------------------------------------------

/// Lane by lane; the order of priorities within a lane is a promise. Equals of several queues may come in either order
/// when the engine has just read its queues anew, which goes by real time: they are told in the order of submission.
std::string Player::claimed(Result<std::vector<ClaimedTask>> answer) {
  if (!answer) return text_of(answer.error());
  std::map<std::string, std::int32_t> lowest;
  bool in_order = true;
  for (const auto& task : *answer) {
    auto [it, first] = lowest.try_emplace(task.execution.lane_id, task.execution.priority);
    in_order = in_order && task.execution.priority <= it->second;
    it->second = task.execution.priority;
  }
  auto key = [&](const ClaimedTask& task) {
    const auto submitted = std::find(executions_.begin(), executions_.end(), task.execution.execution_id);
    return std::tuple(task.execution.lane_id, -task.execution.priority, submitted - executions_.begin());
  };
  std::sort(answer->begin(), answer->end(),
            [&](const ClaimedTask& a, const ClaimedTask& b) { return key(a) < key(b); });
  for (const auto& task : *answer) handles_.push_back(task.handle);
  return (in_order ? "" : "out of order ") + text_of(*answer);
}

/// A claim is not kept waiting until its worker is noted as alive. What is called about the same worker behind it, and
/// answered the same way, comes after that.
void Player::wait_until_noted(const ClaimRequest& request) {
  std::binary_semaphore answered(0);
  world_.fabric.heartbeat({.worker_instance_id = request.worker_instance_id, .namespace_ = request.namespace_},
                          [&](const Result<WorkerAlive>&) { answered.release(); });
  answered.acquire();
}

std::string Player::claim() {
  const ClaimRequest request = arguments_.claim();
  const std::string line =
      fmt::format("{} {} -> {}", request.worker_instance_id, request.max, claimed(world_.fabric.claim(request)));
  wait_until_noted(request);
  return line;
}

std::string Player::claim_named() {
  const ExecutionId id = some_execution();
  return fmt::format("{} -> {}", id.to_string(), claimed(world_.fabric.claim(arguments_.claim_named(id))));
}

std::string Player::renew() {
  RenewLease request{.handle = some_handle()};
  if (random_.chance(0.3)) request.lease_ttl_ms = random_.pick(std::vector<std::uint32_t>{10, 1'000, 90'000});
  return text_of(world_.fabric.renew(request));
}

std::string Player::renew_all() {
  std::vector<RenewLease> requests;
  for (auto left = 1 + random_.below(4); left > 0; --left) requests.push_back({.handle = some_handle()});
  return text_of(world_.fabric.renew_all(requests));
}

std::string Player::progress() {
  ReportProgress request{.handle = some_handle()};
  if (random_.chance(0.7)) request.progress_pct = static_cast<std::uint32_t>(random_.below(103));
  request.progress_message = arguments_.text();
  return text_of(world_.fabric.progress(request));
}

std::string Player::complete() {
  CompleteTask request{.handle = some_handle(), .result = arguments_.bytes()};
  if (random_.chance(0.2)) request.content_type = "text/plain";
  return text_of(world_.fabric.complete(request));
}

std::string Player::fail() {
  FailTask request{.handle = some_handle(), .message = arguments_.text().value_or("")};
  if (random_.chance(0.4)) request.failure_class = static_cast<FailureClass>(random_.below(5));
  if (random_.chance(0.3)) request.category = random_.chance(0.9) ? "billing" : std::string(300, 'c');
  return text_of(world_.fabric.fail(request));
}

std::string Player::delay() {
  DelayTask request{.handle = some_handle()};
  if (random_.chance(0.5)) request.delay_ms = random_.below(10'000);
  if (random_.chance(0.5)) request.delay_until_ms = now() + random_.between(-1'000, 10'000);
  return text_of(world_.fabric.delay(request));
}

std::string Player::wait_children() {
  WaitChildren request{.handle = some_handle()};
  if (random_.chance(0.2)) request.children = {"a child"};
  return text_of(world_.fabric.wait_children(request));
}

std::string Player::cancel_task() {
  return text_of(world_.fabric.cancel_task({.handle = some_handle(), .reason = arguments_.text().value_or("")}));
}

// ---- operating ----------------------------------------------------------------------------------------------------

std::string Player::cancel() {
  return text_of(world_.fabric.cancel(some_execution(), arguments_.text().value_or("enough")));
}

std::string Player::replay() {
  return text_of(world_.fabric.replay(some_execution(), arguments_.text(), arguments_.text()));
}

std::string Player::change_priority() {
  return text_of(world_.fabric.change_priority(some_execution(), static_cast<std::int32_t>(random_.between(-10, 300))));
}

std::string Player::revoke() {
  RevokeLease request{.execution_id = some_execution(), .reason = arguments_.text()};
  if (random_.chance(0.2)) request.worker_instance_id = "w1";
  if (random_.chance(0.1)) request.expected_lease_id = Uuid{};
  return text_of(world_.fabric.revoke_lease(request));
}

std::string Player::operator_complete() {
  return text_of(world_.fabric.operator_complete(
      {.execution_id = some_execution(), .result = arguments_.bytes(), .reason = arguments_.text()}));
}

std::string Player::operator_fail() {
  return text_of(world_.fabric.operator_fail({.execution_id = some_execution(),
                                              .message = "by hand",
                                              .category = arguments_.text(),
                                              .reason = arguments_.text()}));
}

std::string Player::set_tags() { return text_of(world_.fabric.set_tags(some_execution(), arguments_.tag_changes())); }

std::string Player::remove() {
  const ExecutionId id = some_execution();
  return fmt::format("{} -> {}", id.to_string(), text_of(world_.fabric.remove(id)));
}

std::string Player::configure_lane() { return text_of(world_.fabric.configure_lane(arguments_.lane_settings())); }

// ---- reading ------------------------------------------------------------------------------------------------------

std::string Player::get() {
  const ExecutionId id = some_execution();
  return text_of(random_.chance(0.5) ? world_.fabric.get(id) : world_.fabric.wait(id, std::chrono::milliseconds(0)));
}

std::string Player::payload() { return text_of(world_.fabric.payload(some_execution())); }
std::string Player::result() { return text_of(world_.fabric.result(some_execution())); }
std::string Player::tag() {
  const ExecutionId id = some_execution();
  return text_of(world_.fabric.tag(id, random_.chance(0.9) ? "team" : ".bad"));
}
std::string Player::list() { return all_pages(arguments_.list(now())); }
std::string Player::attempts() {
  return all_attempts(some_execution(), static_cast<std::uint32_t>(1 + random_.below(3)));
}
std::string Player::history() { return all_events(some_execution(), static_cast<std::uint32_t>(1 + random_.below(5))); }
std::string Player::leases() { return all_leases(arguments_.leases(now())); }
std::string Player::lane_counts() { return text_of(world_.fabric.lane_counts(arguments_.lane())); }

}  // namespace ff::test
