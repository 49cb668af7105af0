#pragma once

// From calls to requests and back: gathers them into batches, repeats what did not succeed, ends what waits.

#include "client/call.h"
#include "client/retry.h"
#include "log/log.h"

#include <condition_variable>
#include <random>

namespace ff::client {

/// Thread-safe. Answers come on the loop's thread.
class Calls {
 public:
  Calls(Endpoint endpoint, std::shared_ptr<TlsContext> tls, ClientOptions options);
  ~Calls();

  void start(CallPtr call);
  void start(std::vector<CallPtr> calls);
  /// Ends the wait of a call: it is answered soon, with what was on its way or with nothing.
  void cancel(const CallPtr& call);
  /// Answers what is under way and refuses what comes later. On any thread but the loop's it returns when that is done.
  void close();
  bool is_on_loop_thread() const { return loop_->is_here(); }

  /// How long a call is repeated while the server is away.
  void set_retry_ms(std::uint32_t ms) { retry_ms_ = ms; }
  /// How large the server lets a body be.
  void set_body_bytes_max(std::size_t bytes) { body_bytes_max_ = bytes; }
  std::size_t body_bytes_max() const { return body_bytes_max_; }
  /// How the server is called in sentences.
  std::string server() const { return "The server at " + endpoint_.name(); }

 private:
  using Outcome = std::expected<HttpAnswer, std::string>;

  void turn();
  void begin(const CallPtr& call);
  void flush(BatchRoute route);
  void send_batch(BatchRoute route, std::vector<CallPtr> calls);
  void batch_answered(BatchRoute route, std::vector<CallPtr>& calls, Outcome outcome);
  void deal_out(std::vector<CallPtr>& calls, const HttpAnswer& answer);
  void send_single(const CallPtr& call);
  void single_answered(const CallPtr& call, Outcome outcome);
  void succeed(const CallPtr& call, const HttpAnswer& answer);
  void end_wait(const CallPtr& call);
  void stop_waiting(const CallPtr& call);
  void retry_or_finish(const CallPtr& call, Error error, bool answered);
  void finish(const CallPtr& call, Result<WireAnswer> result);
  Error unanswered(const std::string& why) const;
  std::optional<Error> refusal(std::size_t calls);
  void say_how_it_goes(bool reached);

  Endpoint endpoint_;
  ClientOptions options_;
  Log log_;
  std::atomic<std::uint32_t> retry_ms_;
  std::atomic<std::size_t> body_bytes_max_ = 1024 * 1024;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<CallPtr> inbox_;
  std::atomic<std::size_t> unanswered_ = 0;  ///< what counts against the limit
  std::size_t outstanding_ = 0;              ///< until their callbacks have returned
  bool closing_ = false;

  // Of the loop.
  std::shared_ptr<Loop> loop_;
  HttpPool pool_;
  std::array<Gathering, kBatchRoutes> gatherings_;
  std::unordered_map<Call*, CallPtr> waits_;     ///< calls that wait for something to happen
  std::unordered_map<Call*, CallPtr> sleeping_;  ///< calls that are to be made again
  bool is_ending_ = false;
  bool is_away_ = false;  ///< the log has said so
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace ff::client
