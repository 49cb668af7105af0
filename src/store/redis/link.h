#pragma once

#include "store/redis/topology.h"

#include <map>

namespace ff::store::redis {

/// One thread's way to the servers: a connection to each that it has met, and pipelines that follow the slots around.
///
/// A pipeline is answered as a whole, in the order of its commands. Commands go to the servers of their slots side by
/// side; MOVED and ASK are followed, a library that a server lost is loaded again, servers that are busy, failing over
/// or gone are tried again for a second. A command that is sent `once` is not repeated when its reply is lost.
class Link {
 public:
  static constexpr std::chrono::milliseconds kPatience{1'000};

  explicit Link(std::shared_ptr<Topology> topology) : topology_(std::move(topology)) {}

  /// Replies in the order of the commands, error replies of single commands among them.
  struct Answers {
    std::vector<Reply> replies;    ///< empty where none came
    std::optional<Error> trouble;  ///< why some command was given up
  };
  Answers attempt(std::span<const Command> commands, std::chrono::milliseconds patience = kPatience);
  /// The same where every command must be answered: a lost reply is an error.
  Result<std::vector<Reply>> run(std::span<const Command> commands);
  /// One command; its error reply is an error.
  Result<Reply> call(const Command& command);

  Topology& topology() { return *topology_; }

 private:
  struct Open;
  Result<Connection*> connection(const Address& address);

  std::shared_ptr<Topology> topology_;
  std::map<Address, Connection> connections_;
};

/// The error of the first error reply among these.
Result<void> check_all(std::span<const Reply> replies);

}  // namespace ff::store::redis
