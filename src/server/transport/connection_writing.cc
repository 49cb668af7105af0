// Writing answers, in the order of their requests.

#include "server/event_text.h"
#include "server/transport/answer_text.h"
#include "server/transport/connection.h"

namespace ff::server::transport {
namespace {

constexpr std::size_t kJoinBytes = 16 * 1024;    ///< bodies up to this are written together with their heads
constexpr std::size_t kGatherBytes = 64 * 1024;  ///< answers that are written together
constexpr std::size_t kWriteStepBytes = 1024 * 1024;  ///< for each of these a slow reader gets the time of a request

}  // namespace

Task<void> Connection::write_answers() {
  while (!over_) {
    const bool is_ready = !turns_.empty() && turns_.front()->answer && !holds_;
    if (!is_ready && turns_.empty() && closing_) break;
    if (is_ready)
      co_await write_ready();
    else
      co_await answered_.wait();
  }
  if (!over_) co_await say_goodbye();
}

bool Connection::closes_after(const Turn& turn, bool is_last) const {
  if (!turn.keeps_alive) return true;
  if (!is_last) return false;
  // A worker that holds tasks may have more to say about them, and no other connection would be taken any more.
  return closing_ || (draining_ && !is_workers_);
}

/// Writes all answers that are there, up to the first that is not, or is large, or goes on for long.
Task<void> Connection::write_ready() {
  std::vector<TurnPtr> turns;  // kept until the bytes are written, whatever happens meanwhile
  std::string text;
  std::string_view large;
  bool closes = false, in_chunks = false;
  std::shared_ptr<BodyStream> stream;
  for (std::size_t i = 0; i < turns_.size() && turns_[i]->answer; ++i) {
    if (closes || stream || !large.empty() || text.size() >= kGatherBytes) break;
    const Turn& turn = *turns.emplace_back(turns_[i]);
    const Response& answer = *turn.answer;
    if (answer.undelivered) is_workers_ = true;
    stream = answer.stream;
    in_chunks = stream && !turn.http_1_0;
    closes = closes_after(turn, i + 1 == turns_.size()) || (stream && turn.http_1_0);
    text += head_text(answer, {turn.http_1_0, closes, in_chunks, loop_->date()});
    if (answer.body.size() <= kJoinBytes)
      text += answer.body;
    else
      large = answer.body;
  }
  if (closes) closing_ = true;
  const bool is_sent = co_await send(text, large);
  if (!is_sent) co_return;
  for (const TurnPtr& turn : turns) turn->answer->undelivered = nullptr;
  if (stream) co_await tell(*stream, in_chunks);
  if (over_) co_return;
  turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(turns.size()));
  if (reading_ == Reading::nothing) since_ms_ = loop_->now_ms();
  room_.notify();
}

/// False when the connection has ended.
Task<bool> Connection::send(std::string_view first, std::string_view second) {
  const std::size_t steps = 1 + (first.size() + second.size()) / kWriteStepBytes;
  write_deadline_ms_ = loop_->now_ms() + static_cast<std::int64_t>(steps * server_.limits().request_timeout_ms);
  const std::array<asio::const_buffer, 2> bytes{asio::const_buffer(first.data(), first.size()),
                                                asio::const_buffer(second.data(), second.size())};
  const IoError error = co_await wire_->write(bytes);
  write_deadline_ms_ = INT64_MAX;
  last_told_ms_ = loop_->now_ms();
  if (error) end();
  co_return !over_;
}

/// Parts of a stream until it ends, or nobody listens.
Task<void> Connection::tell(BodyStream& stream, bool in_chunks) {
  stream_ = &stream;
  if (draining_) stream.finish();
  while (!over_) {
    const std::optional<std::string> part = co_await next_part(stream, in_chunks);
    if (!part) break;
    const std::string text = in_chunks ? chunk_text(*part) : *part;
    if (!part->empty()) co_await send(text);
  }
  stream_ = nullptr;
  stream.close();
  if (!over_ && in_chunks) co_await send(kLastChunk);
}

/// The next part, with a sign of life into each silence before it.
Task<std::optional<std::string>> Connection::next_part(BodyStream& stream, bool in_chunks) {
  part_.reset();
  // Who has ended is not kept alive by a part that comes late.
  stream.next([weak = weak_from_this(), loop = loop_](std::optional<std::string> part) {
    asio::dispatch(loop->executor(), [weak, part = std::move(part)]() mutable {
      const auto self = weak.lock();
      if (!self || self->over_) return;
      self->part_.emplace(std::move(part));
      self->part_ready_.notify();
    });
  });
  while (!part_ && !over_) {
    if (std::exchange(heartbeat_due_, false)) {
      const std::string text = in_chunks ? chunk_text(kHeartbeat) : std::string(kHeartbeat);
      co_await send(text);
    } else {
      co_await part_ready_.wait();
    }
  }
  if (over_) co_return std::nullopt;
  co_return *std::exchange(part_, std::nullopt);
}

Task<void> Connection::say_goodbye() {
  enter(Reading::goodbye);
  if (input_over_)
    end();
  else
    co_await wire_->say_goodbye();
}

}  // namespace ff::server::transport
