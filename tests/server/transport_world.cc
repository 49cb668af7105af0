#include "server/transport_world.h"

namespace ff::test {

TransportTest::TransportTest() { serve(); }

TransportTest::~TransportTest() { transport.reset(); }

void TransportTest::serve(server::TransportOptions given, server::ServerOptions options) {
  transport.reset();
  start_server(std::move(options));
  if (given.listen == server::TransportOptions().listen) given.listen = {"127.0.0.1:0"};
  given.threads = 2;
  given.log = [this](LogLevel, std::string_view message, std::span<const LogField> fields) {
    std::lock_guard guard(log_mutex);
    log.emplace_back(message);
    for (const auto& field : fields) log.back() += fmt::format(" {}={}", field.name, field.value);
  };
  auto started = server::Transport::start(*api, std::move(given));
  if (!started) FAIL() << started.error();
  transport = std::move(*started);
}

bool TransportTest::claims_wait(std::size_t count) {
  return eventually([&] { return engine().stats().claim_waiters == count; });
}

bool TransportTest::connections_are(std::uint32_t count) {
  return eventually([&] { return transport->counts().connections == count; });
}

bool TransportTest::was_logged(const std::string& words) {
  std::lock_guard guard(log_mutex);
  return std::any_of(log.begin(), log.end(), [&](const std::string& line) { return line.find(words) != line.npos; });
}

}  // namespace ff::test
