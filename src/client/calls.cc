#include "client/calls.h"

#include <boost/json/monotonic_resource.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ff::client {
namespace {

/// A payload may be as deep as any, below what stands around it.
constexpr std::size_t kAnswerDepthMax = 128;

Error draining() {
  return {ErrorCode::draining, "This client has been closed. Open another one, or repeat the call there.", {}};
}

Error too_many(std::string what, std::size_t count) {
  return {ErrorCode::resource_exhausted,
          fmt::format("{} {} of this client are under way, which is the most. Make fewer at a time.", count, what),
          {{"pool", "client_" + what}, {"max", static_cast<std::int64_t>(count)}, {"retry_after_ms", std::int64_t{25}}}};
}

bool is_success(int status) { return status >= 200 && status < 300; }

/// A refusal of the whole that one of its items may be to blame for.
bool may_be_one_item(int status) { return status == 400 || status == 413 || status == 422; }

core::json::value parse(std::string_view text, core::json::monotonic_resource& memory, bool& good) {
  core::json::parse_options options;
  options.max_depth = kAnswerDepthMax;
  core::json::error_code broken;
  core::json::value value = core::json::parse(text, broken, &memory, options);
  good = !broken;
  return value;
}

}  // namespace

Calls::Calls(Endpoint endpoint, std::shared_ptr<TlsContext> tls, ClientOptions options)
    : endpoint_(std::move(endpoint)),
      options_(std::move(options)),
      log_(options_.log),
      retry_ms_(options_.retry_ms),
      loop_(std::make_shared<Loop>()),
      pool_(loop_, endpoint_, std::move(tls), options_) {
  loop_->start([this] { turn(); });
}

Calls::~Calls() {
  close();
  loop_->finish();
}

// ---- coming in ----------------------------------------------------------------------------------------------------

/// Under the lock: why these calls are not taken, if they are not; else they count from now on.
std::optional<Error> Calls::refusal(std::size_t calls) {
  if (closing_) return draining();
  if (const std::size_t unanswered = unanswered_; unanswered + calls > options_.queue_max)
    return too_many("calls", unanswered);
  unanswered_ += calls;
  outstanding_ += calls;
  return std::nullopt;
}

void Calls::start(CallPtr call) {
  std::optional<Error> refused;
  {
    std::lock_guard guard(mutex_);
    refused = refusal(1);
    if (!refused) inbox_.push_back(call);
  }
  if (refused) return call->take(std::unexpected(std::move(*refused)));
  loop_->wake();
}

void Calls::start(std::vector<CallPtr> calls) {
  std::optional<Error> refused;
  {
    std::lock_guard guard(mutex_);
    refused = refusal(calls.size());
    if (!refused) inbox_.insert(inbox_.end(), calls.begin(), calls.end());
  }
  if (refused)
    for (auto& call : calls) call->take(std::unexpected(*refused));
  else
    loop_->wake();
}

void Calls::cancel(const CallPtr& call) {
  loop_->post([this, call] { stop_waiting(call); });
}

void Calls::close() {
  {
    std::lock_guard guard(mutex_);
    closing_ = true;
  }
  loop_->post([this] {
    is_ending_ = true;
    for (auto& [key, call] : std::map<Call*, CallPtr>(waits_.begin(), waits_.end())) stop_waiting(call);
    // The server is away: these get the error that they were to be repeated for.
    for (auto& [key, call] : std::map<Call*, CallPtr>(sleeping_.begin(), sleeping_.end()))
      if (!call->finished) retry_or_finish(call, draining(), false);
  });
  if (loop_->is_here()) return;
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [&] { return outstanding_ == 0; });
}

/// Between events: takes up what has come in, and sends what has gathered.
void Calls::turn() {
  std::vector<CallPtr> arrived;
  {
    std::lock_guard guard(mutex_);
    arrived.swap(inbox_);
  }
  for (const auto& call : arrived) {
    if (call->with_wait && waits_.size() >= options_.waits_max) {
      finish(call, std::unexpected(too_many("waits", waits_.size())));
      continue;
    }
    if (call->with_wait) {
      call->wait_until_ms = Loop::now_ms() + call->wire.wait_ms;
      waits_.emplace(call.get(), call);
    }
    begin(call);
    if (call->with_wait && is_ending_) stop_waiting(call);
  }
  for (std::size_t i = 1; i < kBatchRoutes; ++i) flush(static_cast<BatchRoute>(i));
  pool_.tidy();
}

void Calls::begin(const CallPtr& call) {
  if (call->cancelled && call->hands_out) return finish(call, WireAnswer{.status = 0});
  if (call->wire.route == BatchRoute::none)
    send_single(call);
  else
    gatherings_[static_cast<std::size_t>(call->wire.route)].add(call);
}

// ---- batches ------------------------------------------------------------------------------------------------------

void Calls::flush(BatchRoute route) {
  Gathering& gathering = gatherings_[static_cast<std::size_t>(route)];
  while (!gathering.empty() && (options_.batch_max == 1 || gathering.under_way < options_.batches_at_once))
    send_batch(route, gathering.take(options_.batch_max, body_bytes_max_));
}

void Calls::send_batch(BatchRoute route, std::vector<CallPtr> calls) {
  ++gatherings_[static_cast<std::size_t>(route)].under_way;
  HttpRequest request{.method = "POST", .target = std::string(path_of(route)), .body = batch_body(route, calls)};
  pool_.send(std::move(request), [this, route, calls = std::move(calls)](Outcome outcome) mutable {
    --gatherings_[static_cast<std::size_t>(route)].under_way;
    batch_answered(route, calls, std::move(outcome));
  });
}

void Calls::batch_answered(BatchRoute route, std::vector<CallPtr>& calls, Outcome outcome) {
  say_how_it_goes(outcome.has_value());
  if (!outcome) {
    const Error error = unanswered(outcome.error());
    for (const auto& call : calls) retry_or_finish(call, error, false);
    return;
  }
  if (is_success(outcome->status)) {
    if (calls.size() == 1 && takes_single(route)) return succeed(calls.front(), *outcome);
    return deal_out(calls, *outcome);
  }
  if (calls.size() > 1 && may_be_one_item(outcome->status)) {
    for (const auto& call : calls) {
      call->alone = true;
      begin(call);
    }
    return;
  }
  const Error error = read_problem(outcome->status, outcome->body, outcome->retry_after_s, server());
  for (const auto& call : calls) retry_or_finish(call, error, true);
}

/// Each item has an answer of its own.
void Calls::deal_out(std::vector<CallPtr>& calls, const HttpAnswer& answer) {
  core::json::monotonic_resource memory;
  bool good = false;
  const core::json::value body = parse(answer.body, memory, good);
  const core::json::array* items = good ? batch_answers(body, calls.size()) : nullptr;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const core::json::object* item = items ? (*items)[i].if_object() : nullptr;
    const core::json::value* status = item ? item->if_contains("status") : nullptr;
    if (!status || !status->is_int64()) {
      finish(calls[i], std::unexpected(foreign_answer(answer.status, answer.content_type, server())));
      continue;
    }
    const int code = static_cast<int>(status->get_int64());
    const core::json::value* problem = item->if_contains("problem");
    if (!is_success(code))
      retry_or_finish(calls[i], read_problem(code, problem ? *problem : core::json::value()), true);
    else
      finish(calls[i], WireAnswer{.status = code, .body = item->if_contains("result")});
  }
}

// ---- requests of their own ----------------------------------------------------------------------------------------

void Calls::send_single(const CallPtr& call) {
  const WireCall& wire = call->wire;
  HttpRequest request{.method = wire.method,
                      .target = wire.target,
                      .body = wire.body,
                      .content_type = wire.content_type,
                      .key = wire.key,
                      .wait_ms = wire.wait_ms,
                      .apart = wire.wait_ms > 0};
  call->exchange = pool_.send(std::move(request), [this, call](Outcome outcome) {
    call->exchange = 0;
    single_answered(call, std::move(outcome));
  });
}

void Calls::single_answered(const CallPtr& call, Outcome outcome) {
  say_how_it_goes(outcome.has_value());
  if (!outcome) return retry_or_finish(call, unanswered(outcome.error()), false);
  if (outcome->status == 0) return end_wait(call);
  if (is_success(outcome->status)) return succeed(call, *outcome);
  retry_or_finish(call, read_problem(outcome->status, outcome->body, outcome->retry_after_s, server()), true);
}

void Calls::succeed(const CallPtr& call, const HttpAnswer& answer) {
  WireAnswer read{.status = answer.status, .text = answer.body, .content_type = answer.content_type};
  if (call->raw || answer.body.empty()) return finish(call, read);
  core::json::monotonic_resource memory;
  bool good = false;
  const core::json::value body = parse(answer.body, memory, good);
  if (!good) return finish(call, std::unexpected(foreign_answer(answer.status, answer.content_type, server())));
  read.body = &body;
  finish(call, read);
}

// ---- waits that end early -----------------------------------------------------------------------------------------

void Calls::stop_waiting(const CallPtr& call) {
  if (call->finished || call->cancelled) return;
  call->cancelled = true;
  if (call->exchange != 0) return pool_.give_up(call->exchange);
  if (call->sleeping) end_wait(call);
}

/// Nobody waits for it to happen any more: a claim gets nothing, a read what there is now.
void Calls::end_wait(const CallPtr& call) {
  if (call->hands_out || !call->with_wait) return finish(call, WireAnswer{.status = 0});
  call->wire = call->with_wait(0);
  call->with_wait = nullptr;
  waits_.erase(call.get());
  begin(call);
}

// ---- how it ends --------------------------------------------------------------------------------------------------

void Calls::retry_or_finish(const CallPtr& call, Error error, bool answered) {
  ++call->tries;
  const std::int64_t now = Loop::now_ms();
  if (call->tries == 1) call->failing_since_ms = now;
  const Trouble trouble{answered, call->tries, now - call->failing_since_ms};
  const double draw = std::uniform_real_distribution<double>(0, 1)(random_);
  const auto delay = is_ending_ ? std::nullopt : next_try({retry_ms_, options_.tries_max}, error, trouble, draw);
  if (call->cancelled && call->hands_out) return finish(call, WireAnswer{.status = 0});
  if (!delay) return finish(call, std::unexpected(std::move(error)));
  sleeping_.emplace(call.get(), call);
  call->sleeping = loop_->after(*delay, [this, call] {
    call->sleeping.reset();
    sleeping_.erase(call.get());
    if (call->with_wait) {
      const std::int64_t left = std::max<std::int64_t>(0, call->wait_until_ms - Loop::now_ms());
      call->wire = call->with_wait(static_cast<std::uint32_t>(left));
    }
    begin(call);
  });
}

void Calls::finish(const CallPtr& call, Result<WireAnswer> result) {
  if (call->finished) return;
  call->finished = true;
  if (call->sleeping) loop_->cancel(*call->sleeping);
  call->sleeping.reset();
  sleeping_.erase(call.get());
  waits_.erase(call.get());
  --unanswered_;  // first, so that whoever hears the answer can make the next call
  call->take(std::move(result));
  call->take = nullptr;
  std::lock_guard guard(mutex_);
  if (--outstanding_ == 0) changed_.notify_all();
}

Error Calls::unanswered(const std::string& why) const {
  return {ErrorCode::store_unavailable,
          fmt::format("{} {}. Check its address and whether it runs. The call may have been carried out: repeat it with the "
                      "same id, key or handle.",
                      server(), why),
          {{"server", endpoint_.name()}}};
}

/// One line when the server goes away, one when it is back; none where the caller is told at once.
void Calls::say_how_it_goes(bool reached) {
  if (is_away_ != reached || is_ending_ || retry_ms_ == 0) return;
  is_away_ = !reached;
  if (reached)
    log_.info("the server answers again", {{"server", endpoint_.name()}});
  else
    log_.warn("the server does not answer; calls are repeated", {{"server", endpoint_.name()}});
}

}  // namespace ff::client
