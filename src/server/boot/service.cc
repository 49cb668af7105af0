#include "server/boot/service.h"

#include "api/embedded.h"
#include "server/boot/clocks.h"
#include "server/boot/figures.h"
#include "server/boot/store_opening.h"
#include "server/boot/tokens.h"
#include "server/server.h"
#include "server/setting_table.h"
#include "server/transport/transport.h"
#include "version.h"

#include <future>
#include <random>
#include <thread>

namespace ff::server {
namespace {

constexpr std::int64_t kClockDifferenceMs = 1'000;
constexpr int kLooksPerCertificates = 3;
constexpr std::int64_t kCloseAtLeastMs = 5'000;  ///< whatever is left of the grace: running the queues empty is quick

bool sleep_for(std::int64_t ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return true;
}

/// Ids that tell requests of several servers and several starts apart.
std::function<std::string()> request_ids() {
  auto count = std::make_shared<std::atomic<std::uint64_t>>(0);
  return [count, start = std::random_device{}()] { return fmt::format("{:08x}-{:x}", start, ++*count); };
}

ServerOptions server_options(const Settings& settings) {
  ServerOptions options;
  options.limits = limits_of(settings);
  options.mint_request_id = request_ids();
  options.steady_ms = steady_ms;
  options.steady_us = steady_us;
  options.cors_origins = settings.cors_origins;
  options.rate_limit_per_token = settings.rate_limit_per_token;
  return options;
}

TransportOptions transport_options(const Settings& settings) {
  TransportOptions options;
  options.listen = settings.listen;
  options.admin_listen = settings.admin_listen;
  options.threads = settings.http_threads;
  options.connections_max = settings.connections_max;
  options.header_timeout_ms = settings.header_timeout_ms;
  options.idle_timeout_ms = settings.idle_timeout_ms;
  if (settings.tls_cert) options.tls = TlsFiles{*settings.tls_cert, *settings.tls_key, settings.tls_client_ca};
  return options;
}

BootFailure failure_of(const Error& error) {
  const bool wrong_url = error.context.text("reason") == "invalid_url";
  if (error.code == ErrorCode::store_refused) return {wrong_url ? kWrongSettings : kRefusedBySafety, error.message};
  return {error.category() == ErrorCategory::validation ? kWrongSettings : kRunFailed, error.message};
}

}  // namespace

std::optional<BootFailure> check_safety(const Settings& settings) {
  if (!listens_to_others(settings) || settings.api_token || settings.insecure) return std::nullopt;
  return BootFailure{kRefusedBySafety,
                     "listen names an address that other machines can reach, and there is no token. Make one with `ff token "
                     "create`, or set api_token, or listen at 127.0.0.1, or say insecure = true when everybody there may do "
                     "everything."};
}

Service::Service(Settings settings, BootOptions options)
    : settings_(std::move(settings)), options_(std::move(options)), grace_ms_(settings_.shutdown_grace_ms) {}

Service::~Service() {
  serving_ = nullptr;
  transport_.reset();
  if (fabric_.backend()) fabric_.close();
  figures_.reset();
  backend_.reset();
}

std::expected<std::unique_ptr<Service>, BootFailure> Service::start(const LoadedSettings& loaded, BootOptions options) {
  std::unique_ptr<Service> service(new Service(loaded.settings, std::move(options)));
  const Log log(service->options_.log);
  for (const auto& [name, place] : loaded.places)
    if (const Setting* setting = find_setting(name); setting && setting->is_without_effect)
      log.warn("a setting has no effect in this version", {{"setting", name}, {"place", place}});
  if (auto failed = service->open()) return std::unexpected(std::move(*failed));
  service->warn_of_clocks();
  if (auto failed = service->know_tokens()) return std::unexpected(std::move(*failed));
  service->serve();
  if (auto failed = service->open_addresses()) return std::unexpected(std::move(*failed));
  return service;
}

std::optional<BootFailure> Service::open() {
  const Log log(options_.log);
  auto open_once = [&] {
    OpenOptions options = open_options(settings_);
    options.log = options_.log;
    return ff::open(store_url(settings_), std::move(options));
  };
  auto failed = [&](const Error& error, std::int64_t pause_ms) {
    log.warn("the store cannot be reached, it is tried again",
             {{"error", error.message}, {"pause_ms", std::to_string(pause_ms)}});
  };
  const OpeningTools tools{steady_ms, options_.pause ? options_.pause : sleep_for, failed};
  auto fabric = open_patiently(open_once, {}, tools);
  if (!fabric) return failure_of(fabric.error());
  fabric_ = std::move(*fabric);
  backend_ = std::dynamic_pointer_cast<api::EmbeddedBackend>(fabric_.backend());
  if (!backend_) return BootFailure{kWrongSettings, "store names a server; give it a store of its own."};
  auto info = fabric_.info();
  if (!info) return failure_of(info.error());
  info_ = std::move(*info);
  return std::nullopt;
}

void Service::warn_of_clocks() {
  const std::int64_t difference = info_.server_time_ms - wall_ms();
  if (std::abs(difference) <= kClockDifferenceMs) return;
  Log(options_.log).warn("the clocks of the store and of this machine differ; the store's counts",
                         {{"difference_ms", std::to_string(difference)}});
}

std::optional<BootFailure> Service::know_tokens() {
  auto tokens = open_tokens(backend_, settings_, info_.server_time_ms - wall_ms());
  if (!tokens) return failure_of(tokens.error());
  tokens_ = std::move(*tokens);
  if (!tokens_->has_valid())
    if (auto unsafe = check_safety(settings_)) return unsafe;
  if (tokens_->is_open())
    Log(options_.log).warn("there is no token: whoever reaches this server may do everything");
  return std::nullopt;
}

void Service::serve() {
  ServerOptions options = server_options(settings_);
  options.log = options_.log;
  options.drain = [this](std::optional<std::uint32_t> grace_ms, bool ends) { asked_to_drain(grace_ms, ends); };
  options.authenticate = [tokens = tokens_](const Request& request, Authenticated done) {
    tokens->authenticate(request, std::move(done));
  };
  options.is_open = [tokens = tokens_] { return tokens->is_open(); };
  figures_ = std::make_shared<Figures>(backend_, info_);
  if (settings_.metrics) options.metrics = [this](MetricsText& text) { write_metrics(text); };
  server_ = std::make_unique<Server>(fabric_.backend(), std::move(options));
  // The first look is made with what the start has seen, so that it is ready as soon as it can be reached.
  server_->health().looked(info_);
  server_->health().booted();
}

void Service::write_metrics(MetricsText& text) {
  const Transport* transport = serving_;
  const TransportCounts counts = transport ? transport->counts() : TransportCounts{};
  text.family("ff_http_connections", "gauge", "Connections that are open.");
  text.value({}, std::uint64_t{counts.connections});
  text.family("ff_shutdown_timeout_total", "counter", "Requests that outlasted the grace of a shutdown.");
  text.value({}, counts.shutdown_timeouts);
  figures_->write(text);
}

std::optional<BootFailure> Service::open_addresses() {
  TransportOptions options = transport_options(settings_);
  options.log = options_.log;
  auto transport = Transport::start(*server_, std::move(options));
  if (!transport) return BootFailure{kRunFailed, transport.error()};
  transport_ = std::move(*transport);
  serving_ = transport_.get();
  return std::nullopt;
}

const std::vector<std::string>& Service::addresses() const { return transport_->addresses(); }

std::string Service::description() const {
  const auto& all = addresses();
  const bool has_url = all.front().starts_with("http");
  return fmt::format("ff {} serves {} at {}; {}, {}.", kVersion, shown_store(settings_), fmt::join(all, ", "),
                     has_url ? "its calls are described at " + all.front() + "/docs" : "its calls are described at /docs",
                     tokens_->is_open() ? "no token is asked for" : "tokens are asked for");
}

std::optional<std::string> Service::weakness() const {
  if (info_.durability == Durability::full) return std::nullopt;
  if (info_.durability == Durability::none)
    return fmt::format("Nothing survives the end of this process: {}", info_.durability_detail);
  return fmt::format("A crash of the store may lose the last moments: {}", info_.durability_detail);
}

void Service::look() {
  server_->look([figures = figures_](const Result<FabricInfo>& info) { figures->looked(info); });
  tokens_->look();
  if (++looks_ % kLooksPerCertificates == 0) transport_->reload_changed_certificates();
}

void Service::reload() {
  transport_->reload_certificates();
  tokens_->reload();
}

void Service::asked_to_drain(std::optional<std::uint32_t> grace_ms, bool ends) {
  if (grace_ms) grace_ms_ = *grace_ms;
  if (ends)
    is_asked_to_end_ = true;  // whoever runs this service ends it: a request cannot wait for its own end
  else
    server_->drain();
}

bool Service::drain() {
  const std::int64_t end_ms = steady_ms() + grace_ms_;
  auto tasks_run = [&] {
    const auto leases = fabric_.leases({.limit = 1});
    return leases && !leases->items.empty();
  };
  transport_->drain(std::chrono::milliseconds(grace_ms_), tasks_run);
  return close_store(std::max(end_ms - steady_ms(), kCloseAtLeastMs));
}

/// Runs the queues empty and closes the store, on a thread of its own: a store that does not answer holds up nobody.
bool Service::close_store(std::int64_t within_ms) {
  auto closed = std::make_shared<std::promise<void>>();
  auto future = closed->get_future();
  std::thread([fabric = std::make_unique<Fabric>(fabric_), closed]() mutable {
    fabric->close();
    fabric.reset();  // the last one to let go is whoever waits here: the process may end right after
    closed->set_value();
  }).detach();
  if (future.wait_for(std::chrono::milliseconds(within_ms)) == std::future_status::ready) return true;
  Log(options_.log).warn("the store could not be closed within the grace of the shutdown; sweeps will do the rest");
  return false;
}

}  // namespace ff::server
