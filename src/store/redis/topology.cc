#include "store/redis/topology.h"

#include "core/hash.h"
#include "store/refusal.h"

#include <set>

namespace ff::store::redis {
namespace {

constexpr std::uint16_t kNobody = 0xffff;

}  // namespace

std::uint16_t slot_of(std::string_view key) {
  if (const auto open = key.find('{'); open != std::string_view::npos) {
    const auto close = key.find('}', open);
    if (close != std::string_view::npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return static_cast<std::uint16_t>(core::crc16(key) % kSlots);
}

Topology::Topology(Url url, Login login) : url_(std::move(url)), login_(std::move(login)) {}

/// The first of the addresses that answers and is not a replica.
Result<Connection> Topology::find_primary() const {
  Result<Connection> found = core::fail(ErrorCode::store_unavailable, "The store URL names no server.");
  for (const auto& address : url_.addresses) {
    found = Connection::open(address, login_);
    if (!found && found.error().code == ErrorCode::store_refused) return found;
    if (!found) continue;
    auto role = found->call(Command(0, "ROLE"));
    if (!role && role.error().code != ErrorCode::store_refused) found = std::unexpected(role.error());
    const bool replica = role && (*role)[0].text() == "slave";
    if (found && !replica) return found;
    if (found)
      found = core::fail(
          ErrorCode::store_unavailable,
          fmt::format("The server {} is a replica and takes no writes. Name its primary.", address.to_string()));
  }
  return found;
}

void Topology::use_alone(const Address& address) {
  std::lock_guard guard(mutex_);
  ++generation_;
  nodes_ = {address};
  owners_.fill(0);
}

Result<void> Topology::discover() {
  // In a cluster a replica knows the slots as well as a primary.
  Result<Connection> any = core::fail(ErrorCode::store_unavailable, "The store URL names no server.");
  for (const auto& address : url_.addresses) {
    any = Connection::open(address, login_);
    if (any || any.error().code == ErrorCode::store_refused) break;
  }
  if (!any) return std::unexpected(any.error());
  cluster_ = url_.cluster.value_or(false);
  if (!url_.cluster) {
    auto info = any->call(Command(0, "INFO").arg("cluster"));
    if (!info) return std::unexpected(info.error());
    cluster_ = info->value().text().find("cluster_enabled:1") != std::string_view::npos;
  }
  if (!cluster_) {
    auto primary = find_primary();
    if (!primary) return std::unexpected(primary.error());
    use_alone(primary->address());
    return {};
  }
  if (login_.database != 0)
    return std::unexpected(
        refusal("invalid_url", "A cluster has only database 0. Leave the number out of the store URL."));
  return read_slots(*any);
}

std::uint64_t Topology::generation() const {
  std::lock_guard guard(mutex_);
  return generation_;
}

Result<void> Topology::refresh(std::uint64_t seen) {
  std::vector<Address> known;
  {
    std::lock_guard guard(mutex_);
    if (generation_ != seen) return {};
    known = nodes_;
  }
  if (!cluster_) {
    if (url_.addresses.size() == 1) return {};
    auto primary = find_primary();
    if (!primary) return std::unexpected(primary.error());
    use_alone(primary->address());
    return {};
  }
  known.insert(known.end(), url_.addresses.begin(), url_.addresses.end());
  Result<void> outcome = core::fail(ErrorCode::store_unavailable, "No server of the cluster answers.");
  std::set<Address> asked;
  for (const auto& address : known) {
    if (!asked.insert(address).second) continue;
    auto connection = Connection::open(address, login_);
    if (!connection) continue;
    outcome = read_slots(*connection);
    if (outcome) return outcome;
  }
  return outcome;
}

Result<void> Topology::read_slots(Connection& connection) {
  auto slots = connection.call(Command(0, "CLUSTER").arg("SLOTS"));
  if (!slots) return std::unexpected(slots.error());
  std::lock_guard guard(mutex_);
  ++generation_;
  std::array<std::uint16_t, kSlots> owners;
  owners.fill(kNobody);
  for (std::size_t i = 0; i < slots->value().size(); ++i) {
    const Value range = (*slots)[i];
    const Value primary = range[2];
    Address address{std::string(primary[0].text()), static_cast<std::uint16_t>(primary[1].number())};
    // A server that does not know its own name is the one that was asked.
    if (address.host.empty() || address.host == "?") address.host = connection.address().host;
    const std::uint16_t index = index_of(address);
    for (std::int64_t slot = range[0].number(); slot <= range[1].number() && slot < kSlots; ++slot)
      owners[static_cast<std::size_t>(slot)] = index;
  }
  if (std::find(owners.begin(), owners.end(), kNobody) != owners.end())
    return core::fail(ErrorCode::store_unavailable,
                      "The cluster does not cover all of its 16,384 slots. Mend it first (redis-cli --cluster check).");
  owners_ = owners;
  return {};
}

std::uint16_t Topology::index_of(const Address& address) {
  auto it = std::find(nodes_.begin(), nodes_.end(), address);
  if (it == nodes_.end()) it = nodes_.insert(nodes_.end(), address);
  return static_cast<std::uint16_t>(it - nodes_.begin());
}

Address Topology::owner(std::uint16_t slot) const {
  std::lock_guard guard(mutex_);
  return nodes_[owners_[slot]];
}

void Topology::moved(std::uint16_t slot, const Address& to) {
  std::lock_guard guard(mutex_);
  owners_[slot] = index_of(to);
}

std::vector<Address> Topology::primaries() const {
  std::lock_guard guard(mutex_);
  std::set<std::uint16_t> used(owners_.begin(), owners_.end());
  std::vector<Address> found;
  for (std::uint16_t index : used) found.push_back(nodes_[index]);
  return found;
}

}  // namespace ff::store::redis
