// How a batch serves its claims: what they hold already, what waits in the store, what the batch itself has made.

#include "store/batch_run.h"

#include <algorithm>

namespace ff::store {

using core::Reads;

/// Claims that are repeated with their key get what they hold already. These rows are only looked at: locking them now,
/// after others, would break the order of locks.
BatchRun::State BatchRun::claims() {
  for (; claim_at_ < claims_.size(); ++claim_at_) {
    core::ClaimOperation& claim = *claims_[claim_at_];
    if (!claim.request().claim_key) continue;
    auto held = session_.claimed_under(claim.request().worker.worker_instance_id, *claim.request().claim_key);
    if (!held) return fault(held.error());
    if (held->empty()) continue;
    Unit& unit = traits_.units_share_batch ? units_.front() : units_.emplace_back();
    std::vector<Reads> reads;
    Reads& wanted = reads.emplace_back(unit.set);
    for (const auto& id : *held) {
      wanted.execution(id);
      wanted.info(id);
      wanted.payload(id);
    }
    Unit* units[] = {&unit};
    auto loaded = session_.load(units, reads, LoadMode::discover);
    if (!loaded) return fault(loaded.error());
    if (*loaded == Step::blocked) {
      if (!traits_.units_share_batch) units_.pop_back();
      return State::blocked;
    }
    std::vector<core::OrderKey> repeated;  // told in the order in which they were taken, whatever order the store has
    for (const auto& id : *held) {
      const ExecutionRecord* record = unit.set.execution(id);
      if (record && record->is_live(unit.now) && core::is_repeated_claim(*record, claim.request()))
        repeated.push_back(core::order_key(*record));
    }
    std::sort(repeated.begin(), repeated.end());
    for (const auto& key : repeated) claim.repeat(key.id, unit.set);
  }
  stage_ = Stage::take;
  return State::working;
}

BatchRun::State BatchRun::take() {
  if (rows_.empty()) {
    if (take_round_ < kTakeRoundsMax) rows_ = planner_.plan(claims_, take_round_ + 1 == kTakeRoundsMax);
    if (rows_.empty()) {
      give_what_was_made();
      stage_ = Stage::save;
      return State::working;
    }
  }
  // Rows of one queue are one take; each claim gets its share in the order of the plan.
  std::vector<TakeRow> merged;
  std::vector<std::size_t> merged_of(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const TakeRow& row = rows_[i].take;
    auto same = std::find_if(merged.begin(), merged.end(), [&](const TakeRow& other) {
      return other.queue == row.queue && other.priority_floor == row.priority_floor;
    });
    merged_of[i] = static_cast<std::size_t>(same - merged.begin());
    if (same == merged.end())
      merged.push_back(row);
    else
      same->count += row.count;
  }
  std::vector<Taken> taken;
  auto done = session_.take(merged, units_, taken);
  if (!done) return fault(done.error());
  if (*done == Step::blocked) return State::blocked;

  std::vector<std::size_t> next(merged.size(), 0);
  std::vector<Taken> by_row(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Taken& from = taken[merged_of[i]];
    std::size_t& at = next[merged_of[i]];
    core::ClaimOperation& claim = *claims_[rows_[i].claim];
    by_row[i].next_head = from.next_head;
    for (std::uint32_t given = 0; given < rows_[i].take.count && at < from.candidates.size() && claim.wanted() > 0;
         ++at, ++given) {
      const auto& [unit, id] = from.candidates[at];
      if (!claim.offer(id, unit->set, unit->now)) continue;
      offers_.push_back({rows_[i].claim, unit, rows_[i].take.queue, core::order_key(*unit->set.execution(id))});
      by_row[i].candidates.emplace_back(unit, id);
    }
    // Candidates that no claim wanted are still at the head of their queue.
    if (at < from.candidates.size()) {
      const auto& [unit, id] = from.candidates[at];
      if (const ExecutionRecord* left = unit->set.execution(id); left && core::is_candidate(*left))
        by_row[i].next_head = core::order_key(*left);
    }
  }
  planner_.took(rows_, by_row);
  rows_.clear();
  ++take_round_;
  return State::working;
}

/// Problem it solves: work that is submitted while a worker waits would cost two commits, one that puts it into its
/// queue and one that takes it out again. The worker's claim joins the batch instead, and both happen in one.
void BatchRun::let_waiting_join() {
  if (!on_made || has_joined_) return;
  std::vector<Gain> gains;
  for (auto& unit : units_) {
    if (!unit.set.has_changes()) continue;
    for (const auto& slot : unit.set.executions().slots()) {
      // Only of what it has created itself does the batch have every part that a task is made of.
      if (!slot.dirty || slot.stored || !slot.value || !core::is_candidate(*slot.value)) continue;
      const QueueRef& queue = slot.value->queue;
      const Lane* lane = unit.set.lane(queue->lane_id);
      if (lane && !core::hands_out(lane->lane_state)) continue;
      made_.push_back({core::order_key(*slot.value), &unit});
      auto same = std::find_if(gains.begin(), gains.end(), [&](const Gain& gain) { return gain.queue == queue; });
      if (same == gains.end())
        gains.push_back({queue, 1});
      else
        ++same->count;
    }
  }
  first_joined_ = claims_.size();
  if (gains.empty()) return;
  Operations joining = on_made(gains);
  has_joined_ = !joining.empty();
  for (auto& operation : joining) {
    claims_.push_back(operation->claim());
    current_.push_back(std::move(operation));
  }
}

/// What the store had was given first: it was there before.
void BatchRun::give_what_was_made() {
  if (first_joined_ == claims_.size()) return;
  std::sort(made_.begin(), made_.end(), [](const Made& a, const Made& b) { return a.key < b.key; });
  for (const Made& made : made_) {
    const std::string lane_id = made.unit->set.execution(made.key.id)->lane_id();
    for (std::size_t i = first_joined_; i < claims_.size(); ++i) {
      const auto& lanes = claims_[i]->request().worker.lanes;
      if (std::find(lanes.begin(), lanes.end(), lane_id) == lanes.end()) continue;
      if (!claims_[i]->offer(made.key.id, made.unit->set, made.unit->now)) continue;
      offers_.push_back({i, made.unit, nullptr, made.key});
      break;
    }
  }
}

}  // namespace ff::store
