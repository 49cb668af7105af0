// Reading requests: one after the other, without waiting for the answers.

#include "server/transport/connection.h"

#include <boost/asio/error.hpp>

namespace ff::server::transport {
namespace {

constexpr std::uint64_t kSmallBodyBytes = 64 * 1024;   ///< of a refused request: read and dropped, the connection goes on
constexpr std::size_t kDiscardBytesMax = 1024 * 1024;  ///< what is read of a side that does not listen

}  // namespace

Task<void> Connection::serve() {
  const IoError error = co_await wire_->open();
  if (error || over_) {
    end();
    co_return;
  }
  spawn(write_answers());
  if (is_turned_away_) {
    Response busy = server_.bare(503);
    busy.headers.emplace_back("Retry-After", "1");
    answer_last(std::move(busy));
  } else {
    bool goes_on = true;
    while (goes_on) goes_on = co_await read_request();
  }
  closing_ = true;
  flush();
  co_await discard();
}

/// False when no further one will be taken.
Task<bool> Connection::read_request() {
  RequestReader reader(server_.limits());
  const bool has_head = co_await read_head(reader);
  if (!has_head) co_return false;
  std::optional<Admission> admission = co_await admit(reader.take_head());
  if (!admission) co_return false;
  if (!*admission) {
    const bool goes_on = co_await refuse(reader, std::move(admission->error()));
    co_return goes_on;
  }
  Ticket ticket = std::move(**admission);
  if (reader.expects_continue() && !reader.is_whole()) co_await say_continue();
  const bool has_body = co_await read_body(reader);
  if (reader.fault() == 413) answer_last(server_.body_too_large(ticket));
  if (!has_body) co_return false;
  const bool is_our_turn = co_await wait_for_turn(reader);
  if (!is_our_turn) co_return false;
  handle(reader, std::move(ticket));
  co_return !closing_ && !over_ && reader.keeps_alive();
}

Task<bool> Connection::read_head(RequestReader& reader) {
  enter(Reading::nothing);
  while (true) {
    input_.use(reader.read(input_.unused()));
    if (reading_ == Reading::nothing && reader.has_begun()) enter(Reading::head);
    if (reader.fault() != 0) {
      answer_last(server_.bare(reader.fault()));
      co_return false;
    }
    if (reader.has_head()) co_return true;
    if (reading_ == Reading::nothing) input_.rest();
    const bool goes_on = co_await read_more(reader);
    if (!goes_on) co_return false;
  }
}

Task<bool> Connection::read_body(RequestReader& reader) {
  if (!reader.is_whole()) enter(Reading::body);
  while (!reader.is_whole() && !over_) {
    input_.use(reader.read(input_.unused()));
    if (reader.fault() == 413) co_return false;
    if (reader.fault() != 0) {
      answer_last(server_.bare(reader.fault()));
      co_return false;
    }
    if (reader.is_whole()) break;
    const bool goes_on = co_await read_more(reader);
    if (!goes_on) co_return false;
  }
  co_return !over_;
}

/// Bytes of a body whose length is known go where they belong; others wait in the buffer.
Task<bool> Connection::read_more(RequestReader& reader) {
  flush();
  const std::span<char> body = input_.empty() ? reader.room() : std::span<char>();
  const std::span<char> into = body.empty() ? input_.room() : body;
  const Moved moved = co_await wire_->read(asio::mutable_buffer(into.data(), into.size()));
  if (over_ || closing_) co_return false;
  if (moved.error) {
    input_ended(moved.error);
    co_return false;
  }
  if (body.empty())
    input_.filled(moved.bytes);
  else
    reader.filled(moved.bytes);
  co_return true;
}

/// None when the connection has ended meanwhile.
Task<std::optional<Connection::Admission>> Connection::admit(Request head) {
  head.door = door_;
  head.remote = remote_;
  admission_.reset();
  server_.begin(std::move(head), [self = shared_from_this()](Admission outcome) {
    asio::dispatch(self->loop_->executor(), [self, outcome = std::move(outcome)]() mutable {
      self->admission_.emplace(std::move(outcome));
      self->admitted_.notify();
    });
  });
  if (!admission_) {
    enter(Reading::blocked);
    flush();
    while (!admission_ && !over_) co_await admitted_.wait();
  }
  if (over_) co_return std::nullopt;
  co_return std::exchange(admission_, std::nullopt);
}

/// The answer comes first. Then a small body is dropped, so that the connection can go on; of a large one, and of one that
/// the other side holds back until it is told to send it, nothing is read.
Task<bool> Connection::refuse(RequestReader& reader, Response refusal) {
  const bool goes_on = reader.keeps_alive() && !reader.expects_continue() && reader.has_at_most(kSmallBodyBytes);
  if (!goes_on) {
    answer_last(std::move(refusal));
    co_return false;
  }
  auto turn = std::make_shared<Turn>();
  turn->http_1_0 = reader.is_http_1_0();
  turn->answer = std::move(refusal);
  push(std::move(turn));
  const bool has_body = co_await read_body(reader);
  if (!has_body) co_return false;
  const bool may_go_on = co_await wait_for_turn(reader);
  co_return may_go_on;
}

Task<void> Connection::say_continue() {
  enter(Reading::blocked);
  flush();
  while (!turns_.empty() && !over_) co_await room_.wait();
  if (!over_) co_await send("HTTP/1.1 100 Continue\r\n\r\n");
}

/// What changes something is carried out alone, in the order of the requests; what only reads, beside its like.
bool Connection::may_start(const RequestReader& reader) const {
  if (turns_.empty()) return true;
  const auto is_safe = [](const TurnPtr& turn) { return turn->is_safe; };
  return turns_.size() < kTurnsMax && reader.is_safe() && std::all_of(turns_.begin(), turns_.end(), is_safe);
}

Task<bool> Connection::wait_for_turn(const RequestReader& reader) {
  if (!may_start(reader)) {
    enter(Reading::blocked);
    flush();
    while (!may_start(reader) && !over_) co_await room_.wait();
  }
  co_return !over_ && !closing_;
}

void Connection::handle(RequestReader& reader, Ticket ticket) {
  auto turn = std::make_shared<Turn>();
  turn->is_safe = reader.is_safe();
  turn->keeps_alive = reader.keeps_alive();
  turn->http_1_0 = reader.is_http_1_0();
  if (ticket.is_by_handle()) is_workers_ = true;
  turns_.push_back(turn);
  holds_ = !input_.empty();
  Pending pending = server_.handle(std::move(ticket), reader.take_body(),
                                   [self = shared_from_this(), turn](Response response) mutable {
                                     self->deliver(std::move(turn), std::move(response));
                                   });
  turn->deadline_ms = loop_->now_ms() + static_cast<std::int64_t>(pending.deadline_ms());
  turn->pending = std::move(pending);
  if (over_) lose(*turn);
}

void Connection::push(TurnPtr turn) {
  turns_.push_back(std::move(turn));
  if (turns_.size() == 1) answered_.notify();
}

void Connection::answer_last(Response response) {
  auto turn = std::make_shared<Turn>();
  turn->keeps_alive = false;
  turn->answer = std::move(response);
  closing_ = true;
  holds_ = false;
  push(std::move(turn));
}

/// Who only stops sending may still listen, as some programs do. A wait needs somebody who is certainly there.
void Connection::input_ended(const IoError& error) {
  input_over_ = true;
  const bool is_broken = error != asio::error::eof;
  const bool needs_somebody = std::any_of(turns_.begin(), turns_.end(), [](const TurnPtr& turn) {
    return turn->answer ? static_cast<bool>(turn->answer->undelivered) : turn->pending && turn->pending->is_waiting();
  });
  if (is_broken || stream_ || needs_somebody || turns_.empty()) return end();
  closing_ = true;
  flush();
}

/// Nothing that comes now is used, but it is taken: an answer is lost when the line is cut with bytes unread.
Task<void> Connection::discard() {
  std::size_t discarded = 0;
  while (!over_ && !input_over_ && discarded < kDiscardBytesMax) {
    input_.use(input_.unused().size());
    const std::span<char> into = input_.room();
    const Moved moved = co_await wire_->read(asio::mutable_buffer(into.data(), into.size()));
    if (over_) co_return;
    if (moved.error) input_ended(moved.error);
    discarded += moved.bytes;
  }
}

}  // namespace ff::server::transport
