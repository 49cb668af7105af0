#include "bench/raw.h"
#include "core/hash.h"
#include "store/redis/link.h"

#include <unistd.h>

#include <deque>
#include <thread>

namespace ff::bench {
namespace {

using store::redis::Command;
using store::redis::Link;

/// One connection's queue: a hash per job, one sorted set of those that wait and one of those that are done. All keys
/// have the same hash tag, as those of one partition do.
class ConnectionQueue {
 public:
  ConnectionQueue(std::shared_ptr<store::redis::Topology> topology, std::uint32_t number)
      : link_(std::move(topology)),
        tag_(fmt::format("ffraw:{{raw{}:{}}}:", number, getpid())),
        slot_(store::redis::slot_of(tag_)) {}

  Result<void> cycle(std::uint64_t executions, const std::string& payload) {
    for (std::uint64_t done = 0; done < executions;) {
      const std::uint64_t count = std::min(kRawBatch, executions - done);
      if (auto sent = submit(submitted_, count, payload); !sent) return sent;
      submitted_ += count;
      done += count;
    }
    for (std::uint64_t done = 0; done < executions;) {
      auto finished = take_and_finish();
      if (!finished) return std::unexpected(finished.error());
      done += *finished;
    }
    return {};
  }

  void clean_up() {
    std::vector<Command> commands = {Command(slot_, "UNLINK").args(tag_ + "waiting", tag_ + "done")};
    for (std::uint64_t i = 0; i < submitted_; ++i) {
      commands.push_back(Command(slot_, "UNLINK").arg(job(std::to_string(i))));
      if (commands.size() == 1'000) (void)link_.run(std::exchange(commands, {}));
    }
    (void)link_.run(commands);
  }

 private:
  std::string job(std::string_view id) const { return tag_ + std::string(id); }

  Result<void> run(const std::vector<Command>& commands) {
    auto replies = link_.run(commands);
    if (!replies) return std::unexpected(replies.error());
    return store::redis::check_all(*replies);
  }

  Result<void> submit(std::uint64_t first, std::uint64_t count, const std::string& payload) {
    std::vector<Command> commands;
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::string id = std::to_string(i);
      commands.push_back(Command(slot_, "HSET").args(job(id), "state", 0, "payload", payload));
      commands.push_back(Command(slot_, "ZADD").args(tag_ + "waiting", i, id));
    }
    return run(commands);
  }

  Result<std::uint64_t> take_and_finish() {
    auto taken = link_.call(Command(slot_, "ZPOPMIN").args(tag_ + "waiting", kRawBatch));
    if (!taken) return std::unexpected(taken.error());
    const std::size_t count = taken->value().size() / 2;
    std::vector<Command> claim, finish;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view id = (*taken)[2 * i].text(), at = (*taken)[2 * i + 1].text();
      claim.push_back(Command(slot_, "HSET").args(job(id), "state", 1));
      finish.push_back(Command(slot_, "HSET").args(job(id), "state", 2));
      finish.push_back(Command(slot_, "ZADD").args(tag_ + "done", at, id));
    }
    if (auto done = run(claim); !done) return std::unexpected(done.error());
    if (auto done = run(finish); !done) return std::unexpected(done.error());
    return count;
  }

  Link link_;
  std::string tag_;
  std::uint16_t slot_;
  std::uint64_t submitted_ = 0;
};

/// Each connection has a queue to itself.
class RedisQueue final : public RawQueue {
 public:
  RedisQueue(const std::shared_ptr<store::redis::Topology>& topology, const RawOptions& options)
      : payload_(options.payload_bytes, 'x') {
    for (std::uint32_t i = 0; i < options.connections; ++i) queues_.emplace_back(topology, i);
  }
  ~RedisQueue() override {
    for (auto& queue : queues_) queue.clean_up();
  }

  Result<void> cycle(std::uint64_t executions) override {
    const std::uint64_t share = std::max<std::uint64_t>(1, executions / queues_.size());
    std::vector<Result<void>> ended(queues_.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < queues_.size(); ++i)
      threads.emplace_back([&, i] { ended[i] = queues_[i].cycle(share, payload_); });
    for (auto& thread : threads) thread.join();
    for (const auto& one : ended)
      if (!one) return one;
    return {};
  }

 private:
  const std::string payload_;
  std::deque<ConnectionQueue> queues_;
};

}  // namespace

Result<std::unique_ptr<RawQueue>> open_raw_redis(const std::string& text, const RawOptions& options) {
  auto url = store::redis::Url::parse(text);
  if (!url) return std::unexpected(url.error());
  store::redis::Login login{.user = url->user, .password = url->password, .database = url->database};
  auto topology = std::make_shared<store::redis::Topology>(std::move(*url), std::move(login));
  if (auto found = topology->discover(); !found) return std::unexpected(found.error());
  return std::make_unique<RedisQueue>(topology, options);
}

}  // namespace ff::bench
