// The life of a connection: its beginning, its time limits, its end.

#include "server/transport/connection.h"

namespace ff::server::transport {
namespace {

constexpr std::int64_t kGoodbyeMs = 1'000;  ///< for the other side to take the last answer before the line is cut

void let_go(Response& response) {
  if (auto undelivered = std::exchange(response.undelivered, nullptr)) undelivered();
  if (auto stream = std::exchange(response.stream, nullptr)) stream->close();
}

}  // namespace

Connection::Connection(std::shared_ptr<Loop> loop, std::unique_ptr<Wire> wire, Server& server,
                       const ConnectionOptions& options, Door door, std::string remote)
    : loop_(std::move(loop)), wire_(std::move(wire)), server_(server), options_(options), door_(door),
      remote_(std::move(remote)) {}

Connection::~Connection() = default;

/// A coroutine keeps the connection alive; with the last one it leaves the loop.
void Connection::spawn(Task<void> task) {
  ++coroutines_;
  asio::co_spawn(loop_->executor(), std::move(task), [self = shared_from_this()](const std::exception_ptr& thrown) {
    if (thrown) self->end();
    if (--self->coroutines_ > 0) return;
    self->end();
    self->loop_->remove(*self);
    --self->loop_->counters().connections;
  });
}

void Connection::start() {
  ++loop_->counters().connections;
  loop_->add(shared_from_this());
  enter(Reading::opening);
  spawn(serve());
}

void Connection::turn_away() {
  is_turned_away_ = true;
  start();
}

void Connection::enter(Reading reading) {
  if (reading_ == Reading::goodbye) return;  // whatever the reader was at, it is over
  reading_ = reading;
  since_ms_ = loop_->now_ms();
}

bool Connection::is_busy() const {
  return !turns_.empty() || reading_ == Reading::head || reading_ == Reading::body || reading_ == Reading::blocked;
}

void Connection::tick(std::int64_t now_ms) {
  if (over_) return;
  if (now_ms >= write_deadline_ms_) return end();
  expire_turns(now_ms);
  if (stream_ && !part_ && now_ms - last_told_ms_ >= options_.heartbeat_ms) {
    heartbeat_due_ = true;
    part_ready_.notify();
  }
  if (!over_) check_reading(now_ms);
}

void Connection::expire_turns(std::int64_t now_ms) {
  std::vector<Pending> expired;
  for (const TurnPtr& turn : turns_)
    if (!turn->answer && turn->pending && now_ms >= turn->deadline_ms) expired.push_back(*turn->pending);
  for (const Pending& pending : expired) pending.expire();
}

void Connection::check_reading(std::int64_t now_ms) {
  const std::int64_t passed_ms = now_ms - since_ms_;
  switch (reading_) {
    case Reading::nothing:
      if (turns_.empty() && passed_ms >= options_.idle_timeout_ms) end();
      return;
    case Reading::head:
    case Reading::body: {
      const bool is_head = reading_ == Reading::head;
      const std::int64_t limit_ms = is_head ? options_.header_timeout_ms : server_.limits().request_timeout_ms;
      if (passed_ms >= limit_ms && !closing_) answer_last(server_.bare(408));
      return;
    }
    case Reading::opening:
      if (passed_ms >= options_.header_timeout_ms) end();
      return;
    case Reading::blocked:
      // Those before it have time limits of their own; what remains is who it is.
      if (turns_.empty() && passed_ms >= server_.limits().request_timeout_ms) end();
      return;
    case Reading::goodbye:
      if (passed_ms >= kGoodbyeMs) end();
      return;
  }
}

void Connection::drain() {
  draining_ = true;
  if (stream_) stream_->finish();
}

/// Whatever it would have handed out is handed back, now or when it comes.
void Connection::lose(Turn& turn) {
  if (turn.answer) return let_go(*turn.answer);
  const bool is_on_its_way = turn.pending && !turn.pending->abandon();
  if (is_on_its_way) turn.awaited.emplace(loop_->executor());
}

void Connection::end() {
  if (std::exchange(over_, true)) return;
  wire_->close();
  const std::vector<TurnPtr> lost = std::exchange(turns_, {});
  for (const TurnPtr& turn : lost) lose(*turn);
  for (Signal* signal : {&admitted_, &room_, &answered_, &part_ready_}) signal->notify();
}

void Connection::deliver(TurnPtr turn, Response response) {
  asio::dispatch(loop_->executor(),
                 [self = shared_from_this(), turn = std::move(turn), response = std::move(response)]() mutable {
                   self->answered(*turn, std::move(response));
                 });
}

void Connection::answered(Turn& turn, Response response) {
  turn.awaited.reset();
  // Who has stopped sending may have gone: what is handed out needs somebody to take it.
  const bool is_for_nobody = over_ || (input_over_ && response.undelivered);
  if (is_for_nobody) {
    let_go(response);
    return end();
  }
  turn.answer = std::move(response);
  if (!holds_ && turns_.front().get() == &turn) answered_.notify();
}

void Connection::flush() {
  holds_ = false;
  answered_.notify();
}

}  // namespace ff::server::transport
