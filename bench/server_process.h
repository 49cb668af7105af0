#pragma once

// `ff serve` as a child of the benchmark.

#include <flowfabric/error.h>

#include <string>
#include <sys/types.h>

namespace ff::bench {

/// Runs until the object goes, at a free port of this machine's loopback address.
class ServerProcess {
 public:
  /// Starts the program that this process is, and returns when it serves.
  static Result<ServerProcess> start(const std::string& store_url);
  ServerProcess(ServerProcess&& other) noexcept;
  ~ServerProcess();

  const std::string& url() const { return url_; }
  pid_t pid() const { return pid_; }

 private:
  ServerProcess() = default;

  pid_t pid_ = -1;
  int output_ = -1;
  std::string url_;
};

}  // namespace ff::bench
