#pragma once

// One thread of the transport and the connections that it serves.

#include "server/transport/asio.h"

#include <atomic>
#include <thread>

namespace ff::server::transport {

class Connection;

/// What all loops of a transport count together.
struct Counters {
  std::atomic<std::uint32_t> connections = 0;
  std::atomic<std::uint64_t> accepted = 0, refused = 0;
};

/// All but `start`, `run` and `finish` belong to the loop's own thread.
class Loop {
 public:
  /// How often every connection is looked at: the precision of all time-outs.
  static constexpr std::uint32_t kTickMs = 100;

  explicit Loop(std::shared_ptr<Counters> counters);
  ~Loop();

  void start(std::string name);
  /// Runs this on the loop's thread.
  void run(std::move_only_function<void()> work);
  /// Waits for the thread, which ends when nothing is left to do.
  void finish();

  asio::io_context& context() { return context_; }
  Executor executor() { return context_.get_executor(); }
  const std::vector<std::shared_ptr<Connection>>& connections() const { return connections_; }
  void add(std::shared_ptr<Connection> connection);
  void remove(const Connection& connection);
  Counters& counters() { return *counters_; }

  /// No more ticks: what is left ends.
  void stop_ticking();

  std::int64_t now_ms() const;
  /// The time for the header `Date`.
  std::string_view date();

 private:
  void tick();
  void wait_for_tick();

  asio::io_context context_{1};
  asio::executor_work_guard<Executor> guard_;
  asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor> ticker_;
  std::shared_ptr<Counters> counters_;
  std::vector<std::shared_ptr<Connection>> connections_;
  bool stopped_ = false;
  std::time_t date_of_ = 0;
  std::string date_;
  std::thread thread_;
};

}  // namespace ff::server::transport
