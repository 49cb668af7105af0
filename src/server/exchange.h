#pragma once

// One request and its answer, from the head to the last word. What a transport holds of it is a Ticket, then a Pending.

#include "server/route_match.h"
#include "server/server.h"
#include "server/target.h"

#include <mutex>

namespace ff::server {

/// The requests that wait, so that a drain can end their waiting. Thread-safe.
class Waits {
 public:
  /// The number it has here; none when a drain has begun and there is no waiting any more.
  std::optional<std::uint64_t> add(std::function<void()> answer_now);
  void remove(std::uint64_t number);
  void end_all();
  std::size_t size();

 private:
  std::mutex mutex_;
  bool ended_ = false;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, std::function<void()>> waiting_;
};

struct Exchange {
  // Written before anybody else knows of it.
  Request request;
  std::string request_id;
  bool head_only = false;
  Headers cors;
  Target target;
  Match match;
  std::optional<Error> nowhere;  ///< why it leads to no route
  Principal principal;
  std::uint64_t deadline_ms = 0;
  Server::Begun begun;
  std::shared_ptr<Waits> waits;
  std::shared_ptr<HttpMetrics> requests;
  const std::function<std::int64_t()>* steady_us = nullptr;
  std::string method;
  std::int64_t began_us = 0;

  std::mutex mutex;
  bool over = false;  ///< answered, or nobody waits for the answer
  Server::Send send;
  Wait wait;
  std::optional<std::uint64_t> wait_number;
  std::optional<std::int64_t> waits_since_us;

  /// What every answer to this request has: its id, its length, what lets a page of another origin read it.
  Response dressed(Response response) const;
  /// Notes what became of it; how long it waited for something to happen does not count.
  void count(int status, std::optional<std::int64_t> since_us = std::nullopt);
  /// The first answer is sent; a later one is taken for undelivered.
  void answer(Response response);
  /// Sends this, unless it was answered already, and gives up what still waits.
  void expire(Response response);
  /// False when it was over already.
  bool abandon();
  /// Notes how the wait can be ended; it ends at once when nobody waits any more, or the server is draining.
  void set_wait(Wait given);
  bool is_waiting();

 private:
  struct Left {
    Server::Send send;  ///< the way to the caller
    Wait wait;
    std::optional<std::int64_t> waits_since_us;
  };
  /// For whoever ends it first. What waits may hold this exchange, so nothing of it is kept here.
  std::optional<Left> end();
};

/// A refusal as an answer, with the headers that belong to its code.
Response refusal(const Error& error, const std::string& request_id);

}  // namespace ff::server
