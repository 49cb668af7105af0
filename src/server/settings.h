#pragma once

// The settings of a server: one name each, four places, the first that has it wins: flag, environment, file, default.

#include "server/limits.h"

#include <flowfabric/error.h>
#include <flowfabric/open.h>

#include <expected>

namespace ff::server {

struct Settings {
  std::string store = "sqlite:flowfabric.db";
  std::optional<std::string> store_password;
  std::vector<std::string> listen = {"127.0.0.1:9090"};
  std::optional<std::string> admin_listen;
  bool insecure = false;
  std::optional<std::string> api_token;
  std::optional<std::string> tls_cert, tls_key, tls_client_ca;
  std::vector<std::string> cors_origins;

  std::string namespace_ = "default";
  std::vector<std::string> lanes = {"default"};
  std::uint32_t flow_partitions = 256, budget_partitions = 32, quota_partitions = 32;
  std::uint32_t event_shards = 8, lane_spread = 8;
  std::optional<std::string> waitpoint_secret;
  std::string waitpoint_kid = "k1";
  std::uint64_t waitpoint_grace_ms = 86'400'000;

  std::uint32_t lease_ttl_ms = 30'000;
  LeaseLossPolicy lease_loss_policy = LeaseLossPolicy::reclaim;
  std::uint32_t max_reclaim_count = 20, default_max_retries = 3;
  bool renewal_events = false;
  std::uint64_t retention_ms = 86'400'000, event_retention_ms = 86'400'000;
  std::uint64_t audit_retention_ms = 90ULL * 86'400'000;
  bool sweeps = true;
  std::map<std::string, std::uint64_t> sweep_interval_ms;  ///< those that were set, by sweep
  std::optional<std::string> scanner_namespace, scanner_instance_tag;
  std::uint32_t poll_interval_ms = 1'000, dispatch_claim_ttl_ms = 5'000;

  std::uint32_t executors = 0;  ///< 0: what suits the store
  std::uint32_t batch_max = 500, queue_max = 50'000;
  std::uint32_t store_connections = 8, store_connect_timeout_ms = 10'000, store_request_timeout_ms = 5'000;
  bool auto_migrate = true, allow_unsafe_store = false;

  std::uint32_t http_threads = 0;  ///< 0: one per core, at most 8
  std::uint64_t body_max_bytes = 1024 * 1024, header_max_bytes = 16 * 1024, payload_bytes_max = 1024 * 1024;
  std::uint32_t request_timeout_ms = 30'000, header_timeout_ms = 10'000, idle_timeout_ms = 75'000;
  std::uint32_t connections_max = 10'000, waiters_max = 10'000;
  std::uint32_t rate_limit_per_token = 0, shutdown_grace_ms = 15'000;
  bool metrics = true, dashboard = true;
  std::string log_level = "info";
  std::optional<std::string> log_format;  ///< unset: `text` on a terminal, else `json`
};

/// What a start was given.
struct SettingSources {
  std::vector<std::string> flags;  ///< `--name value`, `--name=value`; a yes or no may stand alone
  std::vector<std::pair<std::string, std::string>> environment;
  std::function<Result<std::string>(const std::string& path)> read_file;
};

struct LoadedSettings {
  Settings settings;
  std::map<std::string, std::string> places;  ///< where each setting that is not the default comes from
  bool check = false;                         ///< `--check`: say what counts, and start nothing
};

/// Everything that is wrong, one sentence each, with setting, place, value and rule; or the settings.
std::expected<LoadedSettings, std::vector<std::string>> load_settings(const SettingSources& sources);

/// One line per setting: name, value, place. Secrets are shown as `***`.
std::string settings_text(const LoadedSettings& loaded);

/// The store's URL as it may be shown: without a password.
std::string shown_store(const Settings& settings);

/// The setting, or the flag, that looks most like this.
std::string nearest_setting(std::string_view name);

/// Whether some address can be reached from other machines: then a token is needed, or `insecure`.
bool listens_to_others(const Settings& settings);

OpenOptions open_options(const Settings& settings);
Limits limits_of(const Settings& settings);

}  // namespace ff::server
