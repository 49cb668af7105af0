#pragma once

// A whole server in this process: store, engine, API and addresses, from settings.

#include "server/settings.h"

#include <flowfabric/fabric.h>

#include <atomic>
#include <mutex>

namespace ff::api {
class EmbeddedBackend;
}

namespace ff::server {

class Figures;
class MetricsText;
class Server;
class TokenBook;
class Transport;
struct TransportOptions;

// What a program that serves ends with.
inline constexpr int kServedWell = 0;
inline constexpr int kRunFailed = 1;
inline constexpr int kWrongSettings = 2;
inline constexpr int kRefusedBySafety = 4;

/// Why it did not start: one sentence, and what the program ends with.
struct BootFailure {
  int exit_code = kRunFailed;
  std::string sentence;
};

struct BootOptions {
  LogSink log;
  /// Lets so much time go by while a store is waited for; false ends the start. Unset: sleeps.
  std::function<bool(std::int64_t ms)> pause;
};

/// Whether these settings may be used where no token is stored: an address for everybody needs one, or the word that it
/// is meant so.
std::optional<BootFailure> check_safety(const Settings& settings);

class Service {
 public:
  /// Starts in the order of 07, section 2; the addresses open last. What has begun is ended again when a later step fails.
  static std::expected<std::unique_ptr<Service>, BootFailure> start(const LoadedSettings& loaded, BootOptions options);
  ~Service();

  /// Version, store, addresses, where the documentation is, whether tokens are asked for.
  std::string description() const;
  /// What a crash could lose, in a sentence; none when nothing.
  std::optional<std::string> weakness() const;
  const std::vector<std::string>& addresses() const;
  /// What it serves, for parts of the same process.
  const Fabric& fabric() const { return fabric_; }
  Transport& transport() { return *transport_; }

  /// To be called about every second: looks after health and certificates.
  void look();
  /// Reads again what may have changed.
  void reload();
  /// Somebody asked over the API to end.
  bool is_asked_to_end() const { return is_asked_to_end_; }
  /// Shuts down in the order of 07, section 7. False when the store could not be closed within the grace; the process has
  /// to end without it then.
  bool drain();

 private:
  Service(Settings settings, BootOptions options);

  std::optional<BootFailure> open();
  void warn_of_clocks();
  std::optional<BootFailure> know_tokens();
  void serve();
  std::optional<BootFailure> open_addresses();
  void write_metrics(MetricsText& text);
  void asked_to_drain(std::optional<std::uint32_t> grace_ms, bool ends);
  bool close_store(std::int64_t within_ms);

  Settings settings_;
  BootOptions options_;
  Fabric fabric_;
  std::shared_ptr<api::EmbeddedBackend> backend_;  ///< the same
  FabricInfo info_;
  std::shared_ptr<TokenBook> tokens_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<Figures> figures_;
  std::unique_ptr<Transport> transport_;
  std::atomic<const Transport*> serving_ = nullptr;  ///< the same, for requests that come while it starts
  std::atomic<std::uint32_t> grace_ms_;
  std::atomic<bool> is_asked_to_end_ = false;
  int looks_ = 0;
};

}  // namespace ff::server
