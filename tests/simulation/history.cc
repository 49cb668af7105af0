#include "history.h"

namespace ff::sim {

bool Life::was_open_since(std::uint64_t step) const {
  if (!ended()) return true;
  return ends.back().step >= step;
}

bool Life::showed_since(std::uint64_t step, std::uint64_t version, PublicState state, std::uint64_t epoch) const {
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const std::uint64_t until = i + 1 < moments.size() ? moments[i + 1].step : gone_step.value_or(UINT64_MAX);
    const Moment& moment = moments[i];
    if (until >= step && moment.version == version && moment.state == state && moment.epoch == epoch) return true;
  }
  return false;
}

Life& History::born(const ExecutionId& id, std::uint64_t creator, std::uint64_t step) {
  Life& life = *lives_[id].emplace_back(std::make_unique<Life>());
  life.id = id;
  life.creator = creator;
  life.born_step = step;
  by_creator_[creator] = &life;
  return life;
}

Life* History::current(const ExecutionId& id) {
  auto it = lives_.find(id);
  if (it == lives_.end() || it->second.empty() || it->second.back()->gone_step) return nullptr;
  return it->second.back().get();
}

const Life* History::created_by(std::uint64_t call) const {
  auto it = by_creator_.find(call);
  return it == by_creator_.end() ? nullptr : it->second;
}

const std::vector<std::unique_ptr<Life>>& History::lives_of(const ExecutionId& id) const {
  static const std::vector<std::unique_ptr<Life>> kNone;
  auto it = lives_.find(id);
  return it == lives_.end() ? kNone : it->second;
}

std::pair<Life*, LeaseLife*> History::lease(const ExecutionId& id, const Uuid& attempt_id, std::uint64_t epoch) {
  for (const auto& life : lives_of(id))
    if (epoch >= 1 && epoch <= life->leases.size() && life->leases[epoch - 1].attempt_id == attempt_id)
      return {life.get(), &life->leases[epoch - 1]};
  return {nullptr, nullptr};
}

bool History::was_absent_since(const ExecutionId& id, std::uint64_t step) {
  const Life* life = current(id);
  return !life || life->born_step >= step;
}

}  // namespace ff::sim
