#pragma once

#include "store/redis/connection.h"

#include <array>
#include <mutex>

namespace ff::store::redis {

inline constexpr std::uint16_t kSlots = 16'384;

/// The slot of a key: that of its hash tag, if it has one.
std::uint16_t slot_of(std::string_view key);

/// Which server holds which slot; one server holds all. Shared by the connections of a store; thread-safe.
class Topology {
 public:
  Topology(Url url, Login login);

  const Login& login() const { return login_; }
  bool is_cluster() const { return cluster_; }

  /// Asks the first server that answers what it is, and a cluster for its slots. Without a cluster the first primary
  /// among the addresses is the one.
  Result<void> discover();
  /// Asks a cluster for its slots again, or looks for the primary again, unless somebody did since `seen`.
  Result<void> refresh(std::uint64_t seen);
  std::uint64_t generation() const;

  Address owner(std::uint16_t slot) const;
  /// A server said that this one holds the slot now.
  void moved(std::uint16_t slot, const Address& to);
  /// Every server that holds slots.
  std::vector<Address> primaries() const;

 private:
  Result<Connection> find_primary() const;
  void use_alone(const Address& address);
  Result<void> read_slots(Connection& connection);
  std::uint16_t index_of(const Address& address);

  const Url url_;
  const Login login_;
  bool cluster_ = false;
  mutable std::mutex mutex_;
  std::uint64_t generation_ = 1;
  std::vector<Address> nodes_;
  std::array<std::uint16_t, kSlots> owners_{};  ///< places in `nodes_`
};

}  // namespace ff::store::redis
