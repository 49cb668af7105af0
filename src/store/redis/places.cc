#include "store/redis/places.h"

namespace ff::store::redis {
namespace {

constexpr std::chrono::seconds kLookForLostEvery{60};

}  // namespace

void Places::set_count(std::uint16_t partitions) {
  std::lock_guard guard(mutex_);
  count_ = partitions;
}

std::vector<Place> Places::known() const {
  std::lock_guard guard(mutex_);
  return {known_.begin(), known_.end()};
}

Result<std::vector<Place>> Places::current(Link& link) {
  const Place global(0);
  {
    // Whoever comes during a look waits for what it finds.
    std::lock_guard looking(look_mutex_);
    if (Steady::now() >= looked_at_ + kLookForLostEvery) {
      if (auto looked = look_for_lost(link); !looked) return std::unexpected(looked.error());
      looked_at_ = Steady::now();
    }
  }
  const std::size_t known = this->known().size();
  auto count = link.call(Command(global.slot, "SCARD").arg(global.places()));
  if (!count) return std::unexpected(count.error());
  if (static_cast<std::size_t>(count->value().number()) != known) {
    auto all = link.call(Command(global.slot, "SMEMBERS").arg(global.places()));
    if (!all) return std::unexpected(all.error());
    // Replaced, not added to: a store that was emptied must not be believed full.
    std::set<std::uint16_t> found;
    for (std::size_t i = 0; i < all->value().size(); ++i) found.insert(static_cast<std::uint16_t>((*all)[i].number()));
    std::lock_guard guard(mutex_);
    known_ = std::move(found);
  }
  return this->known();
}

Result<void> Places::look_for_lost(Link& link) {
  std::vector<Place> unknown;
  {
    std::lock_guard guard(mutex_);
    for (std::uint16_t i = 0; i < count_; ++i)
      if (!known_.contains(i)) unknown.emplace_back(i);
  }
  std::vector<Command> commands;
  for (const auto& place : unknown) commands.push_back(Command(place.slot, "EXISTS").arg(place.created()));
  auto replies = link.run(commands);
  if (!replies) return std::unexpected(replies.error());
  std::vector<std::uint16_t> found;
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if ((*replies)[i].value().number() == 1) found.push_back(unknown[i].number);
  return add(link, found);
}

Result<void> Places::add(Link& link, std::span<const std::uint16_t> partitions) {
  const Place global(0);
  std::vector<std::uint16_t> fresh;
  {
    std::lock_guard guard(mutex_);
    for (std::uint16_t partition : partitions)
      if (!known_.contains(partition)) fresh.push_back(partition);
  }
  if (fresh.empty()) return {};
  Command command(global.slot, "SADD");
  command.arg(global.places());
  for (std::uint16_t partition : fresh) command.arg(partition);
  if (auto added = link.call(command); !added) return std::unexpected(added.error());
  std::lock_guard guard(mutex_);
  known_.insert(fresh.begin(), fresh.end());
  return {};
}

}  // namespace ff::store::redis
