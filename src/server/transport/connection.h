#pragma once

// One connection: a coroutine that reads requests and goes on reading while they are being answered, and one that writes
// the answers in the order of the requests.

#include "server/server.h"
#include "server/transport/input_buffer.h"
#include "server/transport/loop.h"
#include "server/transport/request_reader.h"
#include "server/transport/signal.h"
#include "server/transport/wire.h"

namespace ff::server::transport {

struct ConnectionOptions {
  std::uint32_t header_timeout_ms = 10'000;
  std::uint32_t idle_timeout_ms = 75'000;
  std::uint32_t heartbeat_ms = 15'000;  ///< of a stream in which nothing happens
};

/// A request whose answer is due, and the answer once it is there.
struct Turn {
  std::optional<Pending> pending;
  std::optional<Response> answer;
  std::int64_t deadline_ms = INT64_MAX;
  bool is_safe = true;
  bool keeps_alive = true;
  bool http_1_0 = false;
  /// Keeps the loop running for an answer that is on its way to a connection that has ended.
  std::optional<asio::executor_work_guard<Executor>> awaited;
};
using TurnPtr = std::shared_ptr<Turn>;

/// Belongs to the thread of its loop.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Loop> loop, std::unique_ptr<Wire> wire, Server& server, const ConnectionOptions& options,
             Door door, std::string remote);
  ~Connection();

  void start();
  /// There are too many: says so, and that is all.
  void turn_away();
  /// Looks at every time limit.
  void tick(std::int64_t now_ms);
  /// The server shuts down: answers say that no further request is taken here, streams end.
  void drain();
  /// At once. What could not be answered is abandoned, what could not be delivered handed back.
  void end();

  /// Something is under way that a shutdown waits for.
  bool is_busy() const;
  /// A worker that holds tasks has called here, and may have more to say about them.
  bool is_workers() const { return is_workers_; }

  std::size_t place = 0;  ///< among the connections of the loop

 private:
  using Admission = std::expected<Ticket, Response>;
  /// What the reader is at; each has its own time limit.
  enum class Reading { opening, nothing, head, body, blocked, goodbye };
  static constexpr std::size_t kTurnsMax = 16;  ///< requests taken before the first of them is answered

  void spawn(Task<void> task);
  void enter(Reading reading);
  void lose(Turn& turn);
  void expire_turns(std::int64_t now_ms);
  void check_reading(std::int64_t now_ms);

  // Reading.
  Task<void> serve();
  Task<bool> read_request();
  Task<bool> read_head(RequestReader& reader);
  Task<bool> read_body(RequestReader& reader);
  Task<bool> read_more(RequestReader& reader);
  Task<std::optional<Admission>> admit(Request head);
  Task<bool> refuse(RequestReader& reader, Response refusal);
  Task<void> say_continue();
  Task<bool> wait_for_turn(const RequestReader& reader);
  Task<void> discard();
  bool may_start(const RequestReader& reader) const;
  void handle(RequestReader& reader, Ticket ticket);
  void input_ended(const IoError& error);
  /// Queues an answer that is there already, the last of this connection.
  void answer_last(Response response);
  void push(TurnPtr turn);

  // Writing.
  Task<void> write_answers();
  Task<void> write_ready();
  Task<void> tell(BodyStream& stream, bool in_chunks);
  Task<std::optional<std::string>> next_part(BodyStream& stream, bool in_chunks);
  Task<bool> send(std::string_view first, std::string_view second = {});
  Task<void> say_goodbye();
  bool closes_after(const Turn& turn, bool is_last) const;
  /// Takes an answer from any thread.
  void deliver(TurnPtr turn, Response response);
  void answered(Turn& turn, Response response);
  /// Lets the writer go on.
  void flush();

  std::shared_ptr<Loop> loop_;
  std::unique_ptr<Wire> wire_;
  Server& server_;
  const ConnectionOptions& options_;
  Door door_;
  std::string remote_;

  int coroutines_ = 0;
  bool over_ = false;        ///< closed
  bool closing_ = false;     ///< no further request is taken; closed when all answers are written
  bool input_over_ = false;  ///< nothing more comes from the other side
  bool draining_ = false;
  bool is_turned_away_ = false;
  bool is_workers_ = false;

  Reading reading_ = Reading::opening;
  std::int64_t since_ms_ = 0;  ///< of what the reader is at
  InputBuffer input_;
  std::optional<Admission> admission_;
  Signal admitted_;
  Signal room_;  ///< a turn has ended

  std::vector<TurnPtr> turns_;  ///< in the order of the requests
  bool holds_ = false;          ///< more requests are at hand: their answers may go together
  Signal answered_;
  std::int64_t write_deadline_ms_ = INT64_MAX;

  BodyStream* stream_ = nullptr;  ///< that is being told
  std::optional<std::optional<std::string>> part_;
  Signal part_ready_;
  std::int64_t last_told_ms_ = 0;
  bool heartbeat_due_ = false;
};

}  // namespace ff::server::transport
