#pragma once

#include <flowfabric/clock.h>
#include <flowfabric/log.h>
#include <flowfabric/states.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ff {

/// How to open a fabric. The defaults are right for a program that embeds the engine.
struct OpenOptions {
  /// Fixed for a data set at its first start; later starts with other numbers are refused.
  std::uint16_t flow_partitions = 256;
  std::uint16_t budget_partitions = 32;
  std::uint16_t quota_partitions = 32;
  std::uint16_t lane_spread = 8;
  /// Takes whatever numbers the data set has; those above then count for a new one only. For tools that open any store.
  bool accept_stored_counts = false;

  std::string namespace_ = "default";           ///< for callers that give none
  std::vector<std::string> lanes = {"default"};  ///< registered at the start; others appear with their first execution
  std::uint32_t lease_ttl_ms = 30'000;
  LeaseLossPolicy lease_loss_policy = LeaseLossPolicy::reclaim;
  std::uint32_t max_reclaim_count = 20;
  std::uint32_t default_max_retries = 3;
  std::uint64_t retention_ms = 86'400'000;
  std::uint64_t event_retention_ms = 86'400'000;
  std::uint64_t audit_retention_ms = 90ULL * 86'400'000;
  std::uint64_t payload_bytes_max = 1024 * 1024;
  bool renewal_events = false;

  bool sweeps = true;                                      ///< false: this process runs none
  std::set<std::string> sweeps_off;                        ///< single sweeps by name
  std::map<std::string, std::uint64_t> sweep_interval_ms;  ///< instead of their defaults, by name
  /// Restricts the sweeps of this process to executions of one namespace, or with one tag.
  std::optional<std::string> scanner_namespace;
  std::optional<std::pair<std::string, std::string>> scanner_instance_tag;

  std::uint32_t executors = 0;  ///< 0: what suits the store
  std::uint32_t batch_max = 500;
  std::uint32_t queue_max = 50'000;
  std::uint32_t waiters_max = 10'000;
  /// How long a process may overlook what another one has committed. 0: each claim first reads which queues have work.
  std::uint32_t poll_interval_ms = 1'000;

  std::uint32_t store_request_timeout_ms = 5'000;  ///< how long the store may take for one answer
  bool auto_migrate = true;
  bool allow_unsafe_store = false;
  bool create = true;  ///< make the data set when the store is empty, and register `lanes`; false: neither

  // For a server (`http://...`): whoever runs it decides most of what stands above.
  std::optional<std::string> api_token;  ///< shown to the server; never in logs or errors
  std::optional<std::string> ca_file;    ///< certificates to trust with https; unset: those of the system

  std::shared_ptr<ManualClock> clock;  ///< for tests: time stands still until it is moved
  LogSink log;                         ///< unset: warnings and errors go to stderr
};

}  // namespace ff
