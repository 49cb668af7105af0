#include "server/transport/loop.h"

#include "server/transport/connection.h"

#include <pthread.h>

#include <ctime>

namespace ff::server::transport {

Loop::Loop(std::shared_ptr<Counters> counters)
    : guard_(context_.get_executor()), ticker_(context_), counters_(std::move(counters)) {}

Loop::~Loop() = default;

void Loop::start(std::string name) {
  wait_for_tick();
  thread_ = std::thread([this, name = std::move(name)] {
    pthread_setname_np(pthread_self(), name.c_str());
    context_.run();
  });
}

void Loop::run(std::move_only_function<void()> work) {
  asio::post(context_, [work = std::move(work)]() mutable { work(); });
}

void Loop::finish() {
  guard_.reset();
  if (thread_.joinable()) thread_.join();
}

void Loop::add(std::shared_ptr<Connection> connection) {
  connection->place = connections_.size();
  connections_.push_back(std::move(connection));
}

void Loop::remove(const Connection& connection) {
  const std::size_t place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
}

void Loop::stop_ticking() {
  stopped_ = true;
  ticker_.cancel();
}

void Loop::wait_for_tick() {
  ticker_.expires_after(std::chrono::milliseconds(kTickMs));
  ticker_.async_wait([this](IoError error) {
    if (error || stopped_) return;
    tick();
    wait_for_tick();
  });
}

/// From the last to the first: a connection that ends by it leaves its place to one that was looked at already.
void Loop::tick() {
  const std::int64_t now = now_ms();
  for (std::size_t i = connections_.size(); i-- > 0;) {
    if (i >= connections_.size()) continue;
    const std::shared_ptr<Connection> connection = connections_[i];
    connection->tick(now);
  }
}

std::int64_t Loop::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string_view Loop::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_of_) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[64];
    date_.assign(text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts));
    date_of_ = now;
  }
  return date_;
}

}  // namespace ff::server::transport
