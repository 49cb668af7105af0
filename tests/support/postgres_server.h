#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace ff::test {

/// A real Postgres of its own, on a free port of the loopback, in a temporary folder. It ends with this object, and
/// also when this process is killed. Where the tests run as root, it runs as an ordinary user, because it wants one.
class PostgresServer {
 public:
  /// `durable`: commits wait for the disk. Further settings as `name=value`.
  explicit PostgresServer(bool durable = false, std::vector<std::string> settings = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;

  /// The one that all tests of a program share; it does not wait for the disk.
  static PostgresServer& shared();

  /// The URL of the database; with a schema, of the store in it.
  std::string url(const std::string& schema = "") const;
  int port() const { return port_; }

  /// A name that no other test uses; the store makes the schema.
  std::string new_schema();
  void drop_schema(const std::string& schema);

  /// Runs a script on a connection of its own; the first column of the last rows.
  std::vector<std::string> run(const std::string& script);

  /// Starts it again after `stop`.
  void start();
  /// Ends it at once, as a crash would, or after its sessions were told.
  void stop(bool at_once = true);

 private:
  pid_t launch(const std::vector<std::string>& command, bool dies_with_us) const;
  void run_to_end(const std::vector<std::string>& command) const;

  std::filesystem::path folder_;
  std::vector<std::string> settings_;
  int port_ = 0;
  pid_t pid_ = -1;
  int schemas_ = 0;
};

}  // namespace ff::test
