#include "server/transport/transport.h"

#include "log/log.h"
#include "server/server.h"
#include "server/transport/connection.h"
#include "server/transport/listener.h"
#include "server/transport/tls.h"

#include <netinet/tcp.h>

#include <future>

namespace ff::server {

using namespace transport;

namespace {

constexpr std::uint32_t kThreadsMax = 8;
constexpr std::uint32_t kTurnedAwayMax = 256;  ///< connections beyond the limit that are told so; others are just closed
constexpr auto kLookAgain = std::chrono::milliseconds(50);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);  ///< when there are no file descriptors left, for instance

std::uint32_t thread_count(std::uint32_t wanted) {
  return wanted > 0 ? wanted : std::clamp(std::thread::hardware_concurrency(), 1U, kThreadsMax);
}

/// Not to be called on a thread of a loop.
void run_and_wait(Loop& loop, const std::function<void()>& work) {
  auto done = std::make_shared<std::promise<void>>();
  auto future = done->get_future();
  loop.run([&work, done] {
    work();
    done->set_value();
  });
  future.wait();
}

}  // namespace

struct Transport::Parts {
  Parts(Server& its_server, TransportOptions given)
      : server(its_server),
        options(std::move(given)),
        connection_options{options.header_timeout_ms, options.idle_timeout_ms, options.heartbeat_ms},
        log(options.log) {}

  /// An open address.
  struct Listener {
    Acceptor acceptor;
    Door door;
    bool tls = false;
  };

  std::expected<void, std::string> open();
  std::expected<void, std::string> open(const std::string& text, Door door);
  Task<void> accept(Listener& listener);
  void take(Listener& listener, const std::shared_ptr<Loop>& loop, Socket socket);
  void stop_listening();
  /// Runs this for every connection, and waits until it is done.
  void for_each(const std::function<void(Connection&)>& work);
  /// How many hold up a shutdown.
  std::uint32_t count_busy(bool with_workers);
  void finish();

  Server& server;
  TransportOptions options;
  ConnectionOptions connection_options;
  Log log;
  std::shared_ptr<Certificates> certificates;
  std::shared_ptr<Counters> counters = std::make_shared<Counters>();
  std::vector<std::shared_ptr<Loop>> loops;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<std::string> addresses;
  std::size_t next_loop = 0;
  bool finished = false;
  std::atomic<std::uint64_t> shutdown_timeouts = 0;
};

std::expected<void, std::string> Transport::Parts::open(const std::string& text, Door door) {
  auto acceptors = open_address(loops.front()->context(), text);
  if (!acceptors) return std::unexpected(acceptors.error());
  for (Acceptor& acceptor : *acceptors) {
    door.reach = reach_of(acceptor);
    const bool tls = certificates && door.reach != Reach::socket;
    addresses.push_back(url_of(acceptor, tls));
    listeners.push_back(std::make_unique<Listener>(std::move(acceptor), door, tls));
  }
  return {};
}

std::expected<void, std::string> Transport::Parts::open() {
  if (options.tls) {
    auto loaded = Certificates::load(*options.tls, log);
    if (!loaded) return std::unexpected(loaded.error());
    certificates = std::move(*loaded);
  }
  for (std::uint32_t i = 0; i < thread_count(options.threads); ++i) loops.push_back(std::make_shared<Loop>(counters));
  const bool has_admin_door = options.admin_listen.has_value();
  for (const std::string& text : options.listen)
    if (auto opened = open(text, {.api = true, .admin = !has_admin_door}); !opened) return opened;
  if (has_admin_door)
    if (auto opened = open(*options.admin_listen, {.api = false, .admin = true}); !opened) return opened;
  return {};
}

/// Connections are dealt out to the loops in turn, and stay where they are.
Task<void> Transport::Parts::accept(Listener& listener) {
  while (true) {
    const std::shared_ptr<Loop> loop = loops[next_loop++ % loops.size()];
    Socket socket(loop->context());
    IoError error;
    co_await listener.acceptor.async_accept(socket, asio::redirect_error(use_task, error));
    if (error == asio::error::operation_aborted || !listener.acceptor.is_open()) co_return;
    if (!error) {
      take(listener, loop, std::move(socket));
      continue;
    }
    log.warn("a connection could not be taken", {{"error", error.message()}});
    asio::steady_timer pause(loops.front()->context(), kAcceptPause);
    co_await pause.async_wait(asio::redirect_error(use_task, error));
  }
}

void Transport::Parts::take(Listener& listener, const std::shared_ptr<Loop>& loop, Socket socket) {
  ++counters->accepted;
  const std::uint32_t open_now = counters->connections;
  const bool is_too_many = open_now >= options.connections_max;
  if (is_too_many) ++counters->refused;
  if (open_now >= options.connections_max + kTurnedAwayMax) return;
  if (listener.door.reach != Reach::socket) {
    const int yes = 1;
    setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  std::string remote = remote_of(socket);
  auto wire = listener.tls ? tls_wire(std::move(socket), certificates->current()) : plain_wire(std::move(socket));
  auto connection = std::make_shared<Connection>(loop, std::move(wire), server, connection_options, listener.door,
                                                 std::move(remote));
  loop->run([connection, is_too_many] { is_too_many ? connection->turn_away() : connection->start(); });
}

void Transport::Parts::stop_listening() {
  run_and_wait(*loops.front(), [&] {
    for (const auto& listener : listeners) {
      IoError ignored;
      forget(listener->acceptor);
      listener->acceptor.close(ignored);
    }
  });
}

void Transport::Parts::for_each(const std::function<void(Connection&)>& work) {
  for (const auto& loop : loops)
    run_and_wait(*loop, [&] {
      const auto connections = loop->connections();  // some may leave by what is done
      for (const auto& connection : connections) work(*connection);
    });
}

std::uint32_t Transport::Parts::count_busy(bool with_workers) {
  std::uint32_t busy = 0;
  for_each([&](const Connection& connection) {
    if (connection.is_busy() || (with_workers && connection.is_workers())) ++busy;
  });
  return busy;
}

void Transport::Parts::finish() {
  if (std::exchange(finished, true)) return;
  for_each([](Connection& connection) { connection.end(); });
  for (const auto& loop : loops) loop->run([loop = loop.get()] { loop->stop_ticking(); });
  for (const auto& loop : loops) loop->finish();
}

Transport::Transport(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

std::expected<std::unique_ptr<Transport>, std::string> Transport::start(Server& server, TransportOptions options) {
  auto parts = std::make_unique<Parts>(server, std::move(options));
  if (auto opened = parts->open(); !opened) return std::unexpected(opened.error());
  Parts& all = *parts;
  for (const auto& listener : all.listeners)
    asio::co_spawn(all.loops.front()->executor(), all.accept(*listener), asio::detached);
  for (std::size_t i = 0; i < all.loops.size(); ++i) all.loops[i]->start(fmt::format("ff-http-{}", i));
  return std::unique_ptr<Transport>(new Transport(std::move(parts)));
}

Transport::~Transport() {
  if (parts_->finished) return;
  parts_->stop_listening();
  parts_->finish();
}

const std::vector<std::string>& Transport::addresses() const { return parts_->addresses; }

TransportCounts Transport::counts() const {
  const Counters& counters = *parts_->counters;
  return {counters.connections, counters.accepted, counters.refused, parts_->shutdown_timeouts};
}

void Transport::reload_certificates() {
  if (parts_->certificates) parts_->certificates->reload();
}

void Transport::reload_changed_certificates() {
  if (parts_->certificates) parts_->certificates->reload_if_changed();
}

void Transport::drain(std::chrono::milliseconds grace, const std::function<bool()>& tasks_run) {
  const auto end = std::chrono::steady_clock::now() + grace;
  Parts& parts = *parts_;
  parts.stop_listening();
  // First the connections: what the server answers now are their last answers.
  parts.for_each([](Connection& connection) { connection.drain(); });
  parts.server.drain();
  std::uint32_t busy = 0;
  auto goes_on = [&] {
    busy = parts.count_busy(false);
    if (busy > 0) return true;
    const bool works = parts.count_busy(true) > 0 && tasks_run();
    busy = parts.count_busy(false);  // the call that ended the last task may still be on its way to its answer
    return works || busy > 0;
  };
  while (goes_on() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kLookAgain);
  if (busy > 0) {
    parts.shutdown_timeouts += busy;
    parts.log.warn("requests have outlasted the grace of the shutdown", {{"connections", std::to_string(busy)}});
  }
  parts.finish();
}

}  // namespace ff::server
