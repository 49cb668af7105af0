#include "support/served.h"

#include "server/http.h"
#include "support/matchers.h"

#include <atomic>
#include <chrono>

namespace ff::test {
namespace {

std::int64_t steady_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A data set whose every process is a server with a client in front.
class ServedDataSet final : public DataSet {
 public:
  explicit ServedDataSet(std::unique_ptr<DataSet> behind) : behind_(std::move(behind)) {}

  Result<Opened> open(OpenOptions options, const Wrap& wrap) override {
    auto inner = behind_->open(std::move(options), wrap);
    if (!inner) return std::unexpected(inner.error());
    auto served = std::make_shared<Served>(inner->fabric);
    OpenOptions client;
    client.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
    auto fabric = ff::open(served->url(), client);
    if (!fabric) return std::unexpected(fabric.error());
    return Opened{std::move(*fabric), inner->engine, std::move(served)};
  }
  bool keeps_time(std::uint16_t partition) const override { return behind_->keeps_time(partition); }
  TimeMs lag_ms() const override { return behind_->lag_ms(); }

 private:
  std::unique_ptr<DataSet> behind_;
};

StoreUnderTest served(const std::string& store) {
  return {"http_" + store, [store](std::shared_ptr<ManualClock> clock) {
            return std::make_unique<ServedDataSet>(store_under_test(store).make(std::move(clock)));
          }};
}

}  // namespace

Served::Served(Fabric engine, ServedOptions options, Ends ends) : engine_(std::move(engine)), ends_(ends) {
  auto ids = std::make_shared<std::atomic<int>>(0);
  options.server.mint_request_id = [ids] { return fmt::format("request-{}", ++*ids); };
  options.server.steady_ms = [] { return steady_us() / 1'000; };
  options.server.steady_us = steady_us;
  if (!options.server.log) options.server.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  server_ = std::make_unique<server::Server>(engine_.backend(), options.server);
  if (options.transport.listen == server::TransportOptions().listen) options.transport.listen = {"127.0.0.1:0"};
  options.transport.threads = 2;
  options.transport.log = options.server.log;
  auto transport = server::Transport::start(*server_, std::move(options.transport));
  if (!transport) throw std::runtime_error(transport.error());
  transport_ = std::move(*transport);
  url_ = transport_->addresses().front();
}

Served::~Served() { close(); }

void Served::close() {
  transport_.reset();
  if (ends_ == Ends::engine_too) engine_.close();
}

const std::vector<StoreUnderTest>& servers_under_test() {
  static const std::vector<StoreUnderTest> servers = {served("memory_serial"), served("sqlite"), served("postgres"),
                                                      served("redis")};
  return servers;
}

}  // namespace ff::test
