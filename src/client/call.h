#pragma once

// A call on its way: what is sent, and what becomes of the answer.

#include "client/http_pool.h"
#include "client/wire_answer.h"
#include "client/wire_call.h"

#include <deque>

namespace ff::client {

struct Call {
  WireCall wire;
  bool raw = false;  ///< a successful answer is bytes, not JSON
  /// The same call with another wait; set for those that wait for something to happen.
  std::function<WireCall(std::uint32_t wait_ms)> with_wait;
  bool hands_out = false;  ///< a claim: when nobody waits for it any more it is answered with nothing
  /// Takes the answer, once. An answer with status 0 says that the wait was ended.
  std::move_only_function<void(Result<WireAnswer>)> take;

  // How it has fared. Belongs to the loop.
  std::uint32_t tries = 0;
  std::int64_t failing_since_ms = 0;
  std::int64_t wait_until_ms = 0;
  bool alone = false;      ///< its batch was refused as a whole: it goes by itself
  bool cancelled = false;  ///< nobody waits for what happens; the wait is to end
  bool finished = false;
  HttpPool::Id exchange = 0;
  std::optional<Loop::TimerId> sleeping;
};
using CallPtr = std::shared_ptr<Call>;

/// Calls of one route that gather while others are under way.
class Gathering {
 public:
  void add(CallPtr call) { calls_.push_back(std::move(call)); }
  bool empty() const { return calls_.empty(); }
  /// The oldest of them, as many as make one request: at least one, then while they fit.
  std::vector<CallPtr> take(std::size_t items_max, std::size_t bytes_max);

  std::uint32_t under_way = 0;

 private:
  std::deque<CallPtr> calls_;
};

/// The body of a request with these: the item itself when the route takes it so, or a list.
std::string batch_body(BatchRoute route, const std::vector<CallPtr>& calls);

}  // namespace ff::client
