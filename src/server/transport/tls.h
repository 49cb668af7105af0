#pragma once

// Certificates: read at the start, and again when their files change.

#include "log/log.h"
#include "server/transport/asio.h"
#include "server/transport/transport.h"

#include <boost/asio/ssl/context.hpp>

#include <filesystem>
#include <mutex>

namespace ff::server::transport {

/// Thread-safe. Connections that are open keep what they began with.
class Certificates {
 public:
  /// Or a sentence that names the file that cannot be used.
  static std::expected<std::shared_ptr<Certificates>, std::string> load(TlsFiles files, Log log);

  std::shared_ptr<asio::ssl::context> current();
  /// Reads the files again. Those that cannot be used are reported, and the old ones stay.
  void reload();
  /// The same, when one of them has changed.
  void reload_if_changed();

 private:
  /// When each file was written; a renewal changes one of them.
  using Stamp = std::vector<std::pair<std::filesystem::file_time_type, std::uintmax_t>>;

  Certificates(TlsFiles files, Log log) : files_(std::move(files)), log_(std::move(log)) {}
  Stamp stamp() const;

  TlsFiles files_;
  Log log_;
  std::mutex mutex_;
  std::shared_ptr<asio::ssl::context> context_;
  Stamp stamp_;
};

}  // namespace ff::server::transport
