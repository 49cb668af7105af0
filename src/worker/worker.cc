#include "api/backend.h"
#include "core/capabilities.h"
#include "core/text.h"
#include "core/validate.h"
#include "worker/signals.h"
#include "worker/worker_impl.h"

#include <unistd.h>

#include <climits>
#include <exception>
#include <random>

namespace ff {
namespace {

using worker::SteadyClock;
using std::chrono::milliseconds;

constexpr std::uint32_t kConcurrencyMax = 10'000;
/// A worker that names no time of its own is missed after two leases, but not within a minute.
constexpr std::uint64_t kMissedAfterMsMin = 60'000;
/// A claim that waits and a second one for the slots that came free meanwhile.
constexpr std::size_t kClaimsMax = 2;
/// Signals are looked at this often; everything else wakes the loop at once.
constexpr milliseconds kSignalPoll(100);

std::string program_name() {
  const char* name = program_invocation_short_name;
  return name && *name ? name : "worker";
}

std::string new_instance_id() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  return fmt::format("{}-{}-{:08x}", host[0] ? host : "host", getpid(), std::random_device{}());
}

/// An exception with its nested causes, outermost first.
std::string describe(const std::exception& error) {
  std::string text = error.what();
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    text += ": " + describe(cause);
  } catch (...) {
    text += ": unknown exception";
  }
  return text;
}

std::string message_of(std::string text) {
  return core::truncate_utf8(core::without_controls(std::move(text)), core::kMessageBytesMax);
}

/// Runs a handler; whatever leaves it becomes an outcome.
Outcome outcome_of(const Worker::Handler& handler, Task& task) {
  try {
    return handler(task);
  } catch (const PayloadError& error) {
    return fail_permanent(message_of(describe(error)));
  } catch (const std::exception& error) {
    return fail(message_of(describe(error)));
  } catch (...) {
    return fail("unknown exception");
  }
}

}  // namespace

Worker::Impl::Impl(Fabric fabric, WorkerOptions options)
    : fabric_(std::move(fabric)), options_(std::move(options)), log_(options_.log) {
  if (!options_.worker_id) options_.worker_id = program_name();
  if (!options_.worker_instance_id) options_.worker_instance_id = new_instance_id();
  if (!options_.liveness_ttl_ms)
    options_.liveness_ttl_ms =
        std::clamp<std::uint64_t>(2ULL * options_.lease_ttl_ms, kMissedAfterMsMin, core::kLivenessTtlMsMax);
  pool_ = std::make_shared<worker::HandlerPool>(options_.concurrency);
}

std::optional<Error> Worker::Impl::fault_of_options() const {
  auto wrong = [](std::string_view option, std::string message) {
    return core::invalid_input(option, "out_of_range", std::move(message));
  };
  if (options_.lanes.empty() || options_.lanes.size() > core::kClaimLanesMax)
    return wrong("lanes", fmt::format("A worker serves 1 to {} lanes.", core::kClaimLanesMax));
  for (const auto& lane : options_.lanes)
    if (auto fault = core::check_lane(lane)) return fault;
  if (auto normal = core::normalize_capabilities("worker", options_.capabilities); !normal) return normal.error();
  if (options_.concurrency < 1 || options_.concurrency > kConcurrencyMax)
    return wrong("concurrency", fmt::format("concurrency is {}; it may be 1 to {}.", options_.concurrency, kConcurrencyMax));
  if (auto fault = core::check_name("worker_id", *options_.worker_id)) return fault;
  if (auto fault = core::check_name("worker_instance_id", *options_.worker_instance_id)) return fault;
  if (options_.namespace_scope)
    if (auto fault = core::check_name("namespace_scope", *options_.namespace_scope)) return fault;
  if (auto fault = core::check_ttl(options_.lease_ttl_ms)) return fault;
  if (auto fault = core::check_wait(options_.wait_ms)) return fault;
  if (auto fault = core::check_liveness_ttl(*options_.liveness_ttl_ms)) return fault;
  if (handlers_.size() > core::kClaimKindsMax && !any_)
    return wrong("handlers", fmt::format("A worker has at most {} handlers; use on_any for more kinds.", core::kClaimKindsMax));
  if (handlers_.empty() && !any_) return wrong("handlers", "The worker has no handler: call on() or on_any() before run().");
  return std::nullopt;
}

// ---- notes --------------------------------------------------------------------------------------------------------

Worker::Impl::Notes Worker::Impl::Mailbox::wait(TimePoint until) {
  std::unique_lock guard(mutex_);
  wake_.wait_until(guard, until, [&] {
    return !notes_.claimed.empty() || !notes_.finished.empty() || !notes_.answered.empty() ||
           !notes_.renewed.empty() || !notes_.registered.empty() || notes_.stops > 0;
  });
  return std::exchange(notes_, Notes{});
}

void Worker::Impl::Mailbox::leave_stop() {
  {
    std::lock_guard guard(mutex_);
    ++notes_.stops;
  }
  wake_.notify_one();
}

void Worker::Impl::stop() { mailbox_->leave_stop(); }

// ---- claiming and running -----------------------------------------------------------------------------------------

void Worker::Impl::claim_more() {
  if (phase_ != Phase::working || claims_.size() >= kClaimsMax || SteadyClock::now() < claim_not_before_) return;
  std::size_t taken = held_.size();
  for (const auto& [call, under_way] : claims_) taken += under_way.second;
  if (taken >= options_.concurrency) return;
  const auto free = std::min<std::uint32_t>(static_cast<std::uint32_t>(options_.concurrency - taken), core::kClaimMax);

  ClaimRequest request;
  name_itself(request);
  request.max = free;
  request.wait_ms = options_.wait_ms;
  request.lease_ttl_ms = options_.lease_ttl_ms;
  const std::uint64_t call = next_claim_++;
  claims_[call].second = free;
  // All that the callback does is to wake this loop: the thread that committed may do that.
  ClaimCall under_way = fabric_.backend()->claim(std::move(request), true, [mailbox = mailbox_, call](auto tasks) {
    mailbox->leave(&Notes::claimed, Claimed{call, std::move(tasks)});
  });
  if (auto it = claims_.find(call); it != claims_.end()) it->second.first = std::move(under_way);
}

void Worker::Impl::on_claimed(Claimed note) {
  claims_.erase(note.call);
  if (!note.tasks) {
    const Error& error = note.tasks.error();
    const bool passing = error.retryable() || error.category() == ErrorCategory::timeout;
    if (!passing && phase_ == Phase::working) {
      fatal_ = error;
      begin_drain();
      return;
    }
    claim_not_before_ = SteadyClock::now() + back_off(claim_failures_++);
    if (!std::exchange(claims_fail_, true))
      log_.warn("a claim failed and will be repeated", {{"error", error.to_string()}});
    return;
  }
  if (std::exchange(claims_fail_, false)) log_.info("claims are answered again");
  if (!note.tasks->empty())
    claim_failures_ = 0;
  else if (options_.wait_ms == 0)
    claim_not_before_ = SteadyClock::now() + back_off(claim_failures_++);
  for (auto& task : *note.tasks) start_task(std::move(task));
}

void Worker::Impl::start_task(ClaimedTask claimed) {
  auto task = std::make_shared<worker::TaskState>(fabric_, std::move(claimed));
  held_.insert(task);
  if (phase_ != Phase::working) return hand_back(task);
  pool_->push([self = shared_from_this(), task] { self->run_handler(task); });
}

void Worker::Impl::run_handler(const TaskPtr& state) {
  Task task(state);
  mailbox_->leave(&Notes::finished, Finished{state, outcome_of(chain_, task)});
}

Outcome Worker::Impl::handle(Task& task) const {
  auto it = handlers_.find(task.kind());
  const Handler& handler = it == handlers_.end() ? any_ : it->second;
  return handler ? handler(task) : fail(fmt::format("no handler for kind '{}'", task.kind()));
}

void Worker::Impl::build_chain() {
  chain_ = [this](Task& task) { return handle(task); };  // whoever runs it holds on to this object
  for (const Middleware& each : middleware_)
    chain_ = [&each, next = std::move(chain_)](Task& task) { return each(task, next); };
}

// ---- outcomes -----------------------------------------------------------------------------------------------------

void Worker::Impl::send(const TaskPtr& task, Outcome outcome) {
  if (!held_.contains(task) || going_back_.contains(task)) return;
  if (task->lost.load()) {
    log_.info("an outcome was thrown away: the lease is gone",
              {{"execution_id", task->task.execution.execution_id.to_string()}});
    return drop(task);
  }
  auto answered = [mailbox = mailbox_, task = WeakTask(task), outcome](const auto& result) {
    mailbox->leave(&Notes::answered,
                   Answered{task, outcome, result ? std::nullopt : std::optional(result.error())});
  };
  const std::string& handle = task->task.handle;
  if (const auto* done = std::get_if<Outcome::Complete>(&outcome.value()))
    fabric_.complete({handle, done->result, done->content_type}, answered);
  else if (const auto* failed = std::get_if<Outcome::Fail>(&outcome.value()))
    fabric_.fail({handle, message_of(failed->message), failed->failure_class, failed->category}, answered);
  else if (const auto* later = std::get_if<Outcome::Delay>(&outcome.value()))
    fabric_.delay({handle, later->until_ms, later->for_ms}, answered);
  else if (const auto* children = std::get_if<Outcome::WaitForChildren>(&outcome.value()))
    fabric_.wait_children({handle, children->children}, answered);
}

void Worker::Impl::on_answered(Answered note) {
  const TaskPtr task = note.task.lock();
  if (!task || !held_.contains(task)) return;
  if (!note.error) return drop(task);
  if (worker::loss_of(*note.error) != StopReason::none) {
    log_.warn("an outcome was refused: the lease is gone",
              {{"execution_id", task->task.execution.execution_id.to_string()}, {"error", note.error->to_string()}});
    return drop(task);
  }
  if (note.error->retryable()) {
    send_again_.emplace(SteadyClock::now() + back_off(task->final_tries++),
                        std::pair(task, std::move(note.outcome)));
    return;
  }
  // The outcome itself was refused (a result over the limit, a label too long): the attempt failed for good.
  log_.warn("an outcome was refused; the attempt fails",
            {{"execution_id", task->task.execution.execution_id.to_string()}, {"error", note.error->to_string()}});
  if (task->final_tries++ > 0) return drop(task);
  send(task, fail_permanent(note.error->to_string()));
}

void Worker::Impl::send_again_due() {
  const auto now = SteadyClock::now();
  while (!send_again_.empty() && send_again_.begin()->first <= now) {
    auto [task, outcome] = std::move(send_again_.begin()->second);
    send_again_.erase(send_again_.begin());
    send(task, std::move(outcome));
  }
}

void Worker::Impl::drop(const TaskPtr& task) {
  held_.erase(task);
  going_back_.erase(task);
}

// ---- renewal ------------------------------------------------------------------------------------------------------

void Worker::Impl::renew_due() {
  const auto now = SteadyClock::now();
  // A call that is not answered for two ticks is given up, so that the next one comes while the leases still live.
  if (now < next_renewal_ || (renewal_under_way_ && now - renewal_sent_ < renewal_patience())) return;
  renewal_under_way_.reset();
  next_renewal_ = now + milliseconds(options_.lease_ttl_ms / 3);
  std::vector<WeakTask> tasks;
  std::vector<RenewLease> requests;
  for (const auto& task : held_) {
    if (task->lost.load()) continue;
    tasks.push_back(task);
    requests.push_back({task->task.handle, std::nullopt});
  }
  if (tasks.empty()) return;
  const std::uint64_t call = renewals_++;
  renewal_under_way_ = call;
  renewal_sent_ = now;
  fabric_.renew_all(std::move(requests), [mailbox = mailbox_, call, tasks](auto results) mutable {
    mailbox->leave(&Notes::renewed, Renewed{call, std::move(tasks), std::move(results)});
  });
}

/// No answer at all says as much as one that fails: after the time of a lease the task may be another worker's.
void Worker::Impl::lose_unanswered() {
  if (!renewal_under_way_) return;
  const auto now = SteadyClock::now();
  for (const auto& task : held_)
    if (now - task->renewed_at >= milliseconds(options_.lease_ttl_ms)) task->lose(StopReason::lost);
}

void Worker::Impl::on_renewed(Renewed note) {
  if (renewal_under_way_ == note.call) renewal_under_way_.reset();
  const auto now = SteadyClock::now();
  for (std::size_t i = 0; i < note.tasks.size(); ++i) {
    const TaskPtr task = note.tasks[i].lock();
    if (!task) continue;
    const auto& result = note.results[i];
    if (result) {
      task->renewal_failures.store(0);
      task->renewed_at = now;
      continue;
    }
    if (StopReason reason = worker::loss_of(result.error()); reason != StopReason::none) {
      if (held_.contains(task)) task->lose(reason);
      continue;
    }
    task->renewal_failures.fetch_add(1);
    if (now - task->renewed_at >= milliseconds(options_.lease_ttl_ms)) task->lose(StopReason::lost);
  }
}

// ---- draining -----------------------------------------------------------------------------------------------------

void Worker::Impl::begin_drain() {
  if (phase_ != Phase::working) return;
  phase_ = Phase::draining;
  phase_ends_ = SteadyClock::now() + milliseconds(options_.drain_timeout_ms);
  for (auto& [call, under_way] : claims_) under_way.first.cancel();
}

/// Moves on when the time of a phase is over: first handlers are asked to stop, then their leases go back.
void Worker::Impl::drain_step() {
  if (phase_ == Phase::working || phase_ == Phase::handing_back || SteadyClock::now() < phase_ends_) return;
  if (phase_ == Phase::draining) {
    phase_ = Phase::stopping;
    phase_ends_ = SteadyClock::now() + milliseconds(options_.stop_grace_ms);
    for (const auto& task : held_) task->stop(StopReason::draining);
    return;
  }
  phase_ = Phase::handing_back;
  phase_ends_ = SteadyClock::now() + milliseconds(options_.lease_ttl_ms);
  const std::set<TaskPtr> left = held_;
  for (const auto& task : left) hand_back(task);
}

/// The same attempt goes on with another worker; neither a retry nor a lost lease is counted.
void Worker::Impl::hand_back(const TaskPtr& task) {
  task->stop(StopReason::draining);
  if (!going_back_.insert(task).second) return;
  ++handed_back_;
  const Outcome now = delay(milliseconds(0));
  fabric_.delay({task->task.handle, std::nullopt, 0}, [mailbox = mailbox_, task = WeakTask(task), now](auto result) {
    mailbox->leave(&Notes::answered, Answered{task, now, result ? std::nullopt : std::optional(result.error())});
  });
}

// ---- the loop -----------------------------------------------------------------------------------------------------

milliseconds Worker::Impl::back_off(std::uint32_t tries) const {
  const std::uint64_t grown = std::uint64_t{options_.backoff_first_ms} << std::min(tries, 16U);
  return milliseconds(std::min<std::uint64_t>(grown, options_.backoff_max_ms));
}

Worker::Impl::TimePoint Worker::Impl::next_wake() const {
  const auto now = SteadyClock::now();
  TimePoint next = now + (options_.handle_signals ? kSignalPoll : milliseconds(1'000));
  if (!held_.empty())
    next = std::min(next, renewal_under_way_ ? std::max(now, renewal_sent_ + renewal_patience()) : next_renewal_);
  if (!send_again_.empty()) next = std::min(next, send_again_.begin()->first);
  if (claims_.size() < kClaimsMax && claim_not_before_ > now) next = std::min(next, claim_not_before_);
  if (phase_ != Phase::working) next = std::min(next, std::max(now, phase_ends_));
  if (registration_) next = std::min(next, std::max(now, registration_->next()));
  return next;
}

Result<std::uint32_t> Worker::Impl::run() {
  if (auto fault = fault_of_options()) return std::unexpected(std::move(*fault));
  worker::SignalWatch signals(options_.handle_signals);
  build_chain();
  next_renewal_ = SteadyClock::now() + milliseconds(options_.lease_ttl_ms / 3);
  begin_registration();
  int stops = 0, signals_seen = 0;
  while (true) {
    give_sign();
    claim_more();
    Notes notes = mailbox_->wait(next_wake());
    stops += notes.stops + (signals.count() - signals_seen);
    signals_seen = signals.count();
    if (stops >= 1) begin_drain();
    if (stops >= 2 && phase_ != Phase::handing_back) {
      phase_ = Phase::stopping;
      phase_ends_ = SteadyClock::now();
    }
    for (auto& note : notes.claimed) on_claimed(std::move(note));
    for (auto& note : notes.finished)
      if (const TaskPtr task = note.task.lock()) send(task, std::move(note.outcome));
    for (auto& note : notes.answered) on_answered(std::move(note));
    for (auto& note : notes.renewed) on_renewed(std::move(note));
    for (const auto& note : notes.registered) on_registered(note);
    lose_unanswered();
    send_again_due();
    renew_due();
    drain_step();
    const bool over = phase_ == Phase::handing_back && SteadyClock::now() >= phase_ends_;
    if (phase_ != Phase::working && claims_.empty() && (held_.empty() || over) && has_left()) break;
  }
  pool_->close();
  pool_->join(milliseconds(held_.empty() && handed_back_ == 0 ? 1'000 : 10));
  if (fatal_) return std::unexpected(*fatal_);
  return handed_back_;
}

Worker::Worker(Fabric fabric, WorkerOptions options)
    : impl_(std::make_shared<Impl>(std::move(fabric), std::move(options))) {}
Worker::Worker(Worker&&) noexcept = default;
Worker::~Worker() = default;

Worker& Worker::on(std::string kind, Handler handler) {
  impl_->handlers_[std::move(kind)] = std::move(handler);
  return *this;
}
Worker& Worker::on_any(Handler handler) {
  impl_->any_ = std::move(handler);
  return *this;
}
Worker& Worker::use(Middleware middleware) {
  impl_->middleware_.push_back(std::move(middleware));
  return *this;
}
Result<std::uint32_t> Worker::run() { return impl_->run(); }
void Worker::stop() { impl_->stop(); }
const std::string& Worker::instance_id() const { return *impl_->options_.worker_instance_id; }

}  // namespace ff
