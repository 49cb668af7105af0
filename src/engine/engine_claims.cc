// Claims: plan from the directory, lease in a batch, wait when there is nothing.

#include "core/submission.h"
#include "engine/engine.h"
#include "engine/engine_push.h"
#include "engine/refresher.h"

namespace ff::engine {
namespace {

/// A waiter that was woken this often in a row for work that others got waits for the poll instead.
constexpr int kEmptyTriesMax = 8;

}  // namespace

std::function<void()> Engine::start(ClaimRequest request, const Call& call,
                                    Callback<std::vector<ClaimedTask>> callback) {
  auto refuse = [&](Error error) {
    callback(std::unexpected(std::move(error)));
    return std::function<void()>();
  };
  if (call.caller.namespace_scope) request.namespace_ = call.caller.namespace_scope;
  auto claim = core::check_claim(request, rules_);
  if (!claim) return refuse(claim.error());
  if (request.execution_id)
    if (auto fault = core::check_partition(*request.execution_id, dataset_.partitioning)) return refuse(*fault);
  if (closed_.load()) return refuse({ErrorCode::draining, "The engine is shutting down; claim elsewhere.", {}});
  claim->ids = core::IdSource(runtime_.random_u64(), runtime_.random_u64());
  note_claimer(request, *claim);

  auto pending = std::make_unique<PendingClaim>();
  pending->claim = std::move(*claim);
  pending->named = request.execution_id;
  pending->deadline = runtime_.steady_us() + static_cast<SteadyUs>(request.wait_ms) * 1000;
  pending->arrival = waiters_.next_arrival();
  pending->inline_delivery = call.inline_delivery;
  pending->callback = [this, callback = std::move(callback)](Result<core::LeasedTasks> leased) mutable {
    if (!leased) return callback(std::unexpected(leased.error()));
    std::vector<ClaimedTask> tasks;
    tasks.reserve(leased->size());
    for (auto& task : *leased) {
      ClaimedTask& out = tasks.emplace_back();
      out.handle = sealer_->seal(task.handle);
      out.kind = task.handle.kind;
      out.execution = std::move(task.execution);
      out.attempt = task.attempt;
      if (task.payload) out.payload = *task.payload;
      out.payload_content_type = std::move(task.payload_content_type);
      out.lease_expires_at_ms = task.lease_expires_at_ms;
      out.lease_epoch = task.handle.lease_epoch;
    }
    callback(std::move(tasks));
  };
  auto cancel = [this, arrival = pending->arrival, cancelled = pending->cancelled] {
    cancelled->store(true);
    if (PendingClaimPtr parked = waiters_.take(arrival)) parked->callback(core::LeasedTasks{});
  };
  if (pending->named) {
    submit_named(std::move(pending));
    return cancel;
  }
  directory_.claimed_from(pending->claim.worker.lanes);
  try_claim(std::move(pending));
  return cancel;
}

void Engine::try_claim(PendingClaimPtr claim) {
  const core::WorkerScope& worker = claim->claim.worker;
  const bool trusts = options_.poll_interval_ms > 0 && directory_.knows(worker.lanes);
  if (trusts && directory_.has_work(worker)) return submit_claim(std::move(claim));
  refresher_->ask(std::move(claim));
}

void Engine::submit_claim(PendingClaimPtr claim) {
  Executor& executor = executor_for_claim(claim->claim);
  executor.push(operation_of(std::move(claim)));
}

store::BatchRun::Operations Engine::waiting_for(std::span<const store::Gain> made) {
  std::vector<store::Gain> open;
  for (const auto& gain : made)
    if (directory_.hands_out(gain.queue->lane_id)) open.push_back(gain);
  store::BatchRun::Operations joining;
  for (auto& claim : waiters_.wake(open)) {
    joining.push_back(operation_of(std::move(claim)));
    joining.back()->queued_at_us = runtime_.steady_us();
  }
  return joining;
}

std::unique_ptr<core::Operation> Engine::operation_of(PendingClaimPtr claim) {
  core::Claim request = claim->claim;
  // Each try draws its own ids from the seed, so that two leases never share one.
  claim->claim.ids = core::IdSource(runtime_.random_u64(), runtime_.random_u64());
  const bool inline_delivery = claim->inline_delivery && claim->parked;
  const SteadyUs since = runtime_.steady_us();
  auto operation = std::make_unique<core::ClaimOperation>(
      std::move(request), [this, since, claim = std::move(claim)](Result<core::LeasedTasks> result) mutable {
        metrics_.claimed(claim->claim.worker.lanes.front(), static_cast<double>(runtime_.steady_us() - since) / 1e6);
        claimed(std::move(claim), std::move(result));
      });
  operation->deliver_inline = inline_delivery;
  return operation;
}

void Engine::submit_named(PendingClaimPtr claim) {
  core::ClaimNamed op{*claim->named, claim->claim, std::nullopt};
  claim->claim.ids = core::IdSource(runtime_.random_u64(), runtime_.random_u64());
  Executor& executor = executor_for(op.id);
  push(executor, std::move(op), Call{}, [this, claim = std::move(claim)](Result<core::LeasedTasks> result) mutable {
    claimed(std::move(claim), std::move(result));
  });
}

void Engine::claimed(PendingClaimPtr claim, Result<core::LeasedTasks> result) {
  if (!result || !result->empty()) return claim->callback(std::move(result));
  no_work(std::move(claim));
}

void Engine::no_work(PendingClaimPtr claim) {
  if (claim->deadline <= runtime_.steady_us() || claim->cancelled->load()) return claim->callback(core::LeasedTasks{});
  const bool try_again = !claim->named && ++claim->empty_tries <= kEmptyTriesMax;
  if (!try_again) claim->empty_tries = 0;
  const core::WorkerScope worker = claim->claim.worker;
  const std::uint64_t arrival = claim->arrival;
  const auto cancelled = claim->cancelled;
  if (PendingClaimPtr back = waiters_.park(std::move(claim))) {
    back->callback(core::fail(ErrorCode::resource_exhausted,
                              "Too many claims are waiting. Try again shortly, or claim without waiting.",
                              {{"pool", std::string("waiters")},
                               {"max", std::int64_t{options_.waiters_max}},
                               {"retry_after_ms", std::int64_t{1'000}}}));
    return;
  }
  update_watchfulness();
  // What came between the look and the parking woke nobody: look once more.
  if (cancelled->load()) {
    if (PendingClaimPtr parked = waiters_.take(arrival)) parked->callback(core::LeasedTasks{});
  } else if (try_again && directory_.has_work(worker)) {
    if (PendingClaimPtr again = waiters_.take(arrival)) submit_claim(std::move(again));
  } else if (try_again && directory_.doubts(worker.lanes)) {
    refresher_->look_again();
  }
}

void Engine::retry(std::vector<PendingClaimPtr> claims) {
  for (auto& claim : claims) {
    if (claim->named)
      submit_named(std::move(claim));
    else
      submit_claim(std::move(claim));
  }
}

}  // namespace ff::engine
