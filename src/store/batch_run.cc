#include "store/batch_run.h"

#include "core/errors.h"

#include <algorithm>
#include <numeric>

namespace ff::store {
namespace {

using core::Reads;

/// Whether two operations of a batch share a record: then they commit together.
class Sharing {
 public:
  explicit Sharing(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(b)] = root(a); }

 private:
  std::vector<std::size_t> parent_;
};

template <class Key>
void join_owners(std::map<Key, std::size_t>& owners, const std::vector<Key>& keys, std::size_t operation,
                 Sharing& sharing) {
  for (const auto& key : keys) {
    auto [it, added] = owners.try_emplace(key, operation);
    if (!added) sharing.join(it->second, operation);
  }
}

/// The error of an unreadable record among those that an operation still wants.
const Error* unreadable(const Reads& wanted, const core::WorkingSet& set) {
  for (const auto& id : wanted.executions)
    if (const Error* error = set.why_unreadable(id)) return error;
  for (const auto& id : wanted.infos)
    if (const Error* error = set.why_unreadable(id)) return error;
  return nullptr;
}

/// Whether the operation is about an execution that the batch has removed.
bool concerns_erased(const core::Operation& operation, const core::WorkingSet& set) {
  if (set.erased().empty()) return false;
  const core::WorkingSet nothing;
  Reads reads(nothing);
  operation.reads(nothing, reads);
  return std::any_of(reads.executions.begin(), reads.executions.end(),
                     [&](const ExecutionId& id) { return set.erased().contains(id); });
}

}  // namespace

BatchRun::BatchRun(Session& session, Planner& planner, const StoreTraits& traits, Operations operations)
    : session_(session), planner_(planner), traits_(traits) {
  pieces_.push_back(std::move(operations));
}

BatchRun::~BatchRun() {
  if (in_transaction_) session_.rollback();
}

BatchRun::State BatchRun::step() {
  switch (stage_) {
    case Stage::start: return start();
    case Stage::load: return load();
    case Stage::decide: return decide();
    case Stage::claims: return claims();
    case Stage::take: return take();
    case Stage::save: return save();
  }
  return State::finished;
}

BatchRun::Operations BatchRun::take_answered() { return std::exchange(answered_, {}); }

std::uint32_t BatchRun::back_off_ms() const { return 1U << std::min(failures_, 8); }

BatchRun::State BatchRun::start() {
  if (current_.empty()) {
    if (pieces_.empty()) return State::finished;
    current_ = std::move(pieces_.front());
    pieces_.pop_front();
    failures_ = 0;
    foreseen_rounds_ = 0;
    foreseen_executions_.clear();
    foreseen_keys_.clear();
    if (current_.empty()) return State::working;
  }
  auto begun = session_.begin();
  if (!begun) return fault(begun.error());
  if (*begun == Step::blocked) return State::blocked;
  in_transaction_ = true;
  make_units();
  read_round_ = 0;
  stage_ = Stage::load;
  return State::working;
}

void BatchRun::make_units() {
  units_.clear();
  claims_.clear();
  offers_.clear();
  made_.clear();
  deferred_.clear();
  take_round_ = 0;
  claim_at_ = 0;
  std::vector<core::Operation*> plain;
  for (const auto& operation : current_) {
    if (auto* claim = operation->claim()) {
      claim->reset();
      claims_.push_back(claim);
    } else {
      plain.push_back(operation.get());
    }
  }
  if (traits_.units_share_batch) {
    units_.emplace_back().operations = std::move(plain);
    return;
  }
  Sharing sharing(plain.size());
  std::map<ExecutionId, std::size_t> executions;
  std::map<std::string, std::size_t> lanes;
  std::map<core::IdempotencyId, std::size_t> keys;
  std::map<core::DocumentId, std::size_t> documents;
  const core::WorkingSet nothing;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    Reads reads(nothing);
    plain[i]->reads(nothing, reads);
    join_owners(executions, reads.executions, i, sharing);
    join_owners(executions, reads.infos, i, sharing);
    join_owners(lanes, reads.lanes, i, sharing);
    join_owners(keys, reads.keys, i, sharing);
    join_owners(documents, reads.documents, i, sharing);
  }
  std::map<std::size_t, Unit*> by_root;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    Unit*& unit = by_root[sharing.root(i)];
    if (!unit) unit = &units_.emplace_back();
    unit->operations.push_back(plain[i]);
  }
}

BatchRun::State BatchRun::load() {
  std::vector<Unit*> units;
  std::vector<Reads> reads;
  bool wants = read_round_ == 0;  // the first load also reads the clock
  for (auto& unit : units_) {
    Reads wanted(unit.set);
    for (auto* operation : unit.operations) operation->reads(unit.set, wanted);
    if (read_round_ == 0) {
      for (const auto& id : foreseen_executions_) wanted.execution(id);
      for (const auto& key : foreseen_keys_) wanted.key(key);
    }
    std::erase_if(wanted.executions, [&](const auto& id) { return unit.set.why_unreadable(id); });
    std::erase_if(wanted.infos, [&](const auto& id) { return unit.set.why_unreadable(id); });
    wants = wants || !wanted.empty();
    if (read_round_ > 0 && wanted.empty()) continue;
    if (read_round_ > 0 && traits_.locks_rows && !(wanted.executions.empty() && wanted.keys.empty()))
      return lock_more(wanted);
    units.push_back(&unit);
    reads.push_back(std::move(wanted));
  }
  if (!wants || read_round_ == kReadRoundsMax) {
    stage_ = Stage::decide;
    return State::working;
  }
  auto loaded = session_.load(units, reads, LoadMode::lock);
  if (!loaded) return fault(loaded.error());
  if (*loaded == Step::blocked) return State::blocked;
  ++read_round_;
  return State::working;
}

/// Locks are taken in one canonical order, so none may be added to those that are held: two batches that did so could
/// wait for each other. The batch lets go of everything and asks again for all of them.
BatchRun::State BatchRun::lock_more(const Reads& wanted) {
  session_.rollback();
  in_transaction_ = false;
  if (++foreseen_rounds_ > kReadRoundsMax) return conflict();
  foreseen_executions_.insert(foreseen_executions_.end(), wanted.executions.begin(), wanted.executions.end());
  foreseen_keys_.insert(foreseen_keys_.end(), wanted.keys.begin(), wanted.keys.end());
  stage_ = Stage::start;
  return State::working;
}

BatchRun::State BatchRun::decide() {
  for (auto& unit : units_)
    for (auto* operation : unit.operations) {
      Reads wanted(unit.set);
      operation->reads(unit.set, wanted);
      // A save writes each record once: what is removed here and made anew needs two.
      if (concerns_erased(*operation, unit.set))
        deferred_.push_back(operation);
      else if (wanted.empty())
        operation->decide(unit.set, unit.now);
      else if (const Error* error = unreadable(wanted, unit.set))
        operation->refuse(*error);
      // What the batch has just made may lead to records that nobody had asked for.
      else if (unit.set.has_changes())
        deferred_.push_back(operation);
      else
        operation->refuse({ErrorCode::invariant_violation,
                           fmt::format("{} asked for more records than {} rounds of reads could bring.",
                                       operation->name(), kReadRoundsMax),
                           {}});
    }
  let_waiting_join();
  stage_ = claims_.empty() ? Stage::save : Stage::claims;
  return State::working;
}

BatchRun::State BatchRun::save() {
  std::vector<Unit*> units;
  for (auto& unit : units_) {
    if (unit.set.has_changes())
      units.push_back(&unit);
    else
      unit.outcome = Unit::Outcome::committed;
  }
  if (units.empty()) {
    std::vector<Unit*> all;
    for (auto& unit : units_) all.push_back(&unit);
    auto left = session_.leave(all);
    if (!left) return fault(left.error());
  } else {
    auto saved = session_.save(units);
    if (!saved) return fault(saved.error());
    if (*saved == Step::blocked) return State::blocked;
    ++commits_;
  }
  in_transaction_ = false;
  for (const auto& offer : offers_)
    if (offer.queue && offer.unit->outcome == Unit::Outcome::conflict) planner_.gave_back(offer.queue, offer.key);
  if (traits_.units_share_batch && !units.empty() && units.front()->outcome == Unit::Outcome::conflict)
    return conflict();
  if (on_commit) on_commit(units_);

  std::vector<std::vector<bool>> committed(claims_.size());
  for (const auto& offer : offers_)
    committed[offer.claim].push_back(offer.unit->outcome == Unit::Outcome::committed);
  offers_.clear();

  // Whatever lost a race is decided again, claims that lost everything too; the others have their answers.
  std::vector<core::Operation*> lost;
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    claims_[i]->settle(committed[i]);
    const bool got_some = std::find(committed[i].begin(), committed[i].end(), true) != committed[i].end();
    if (!committed[i].empty() && !got_some) lost.push_back(claims_[i]);
  }
  for (auto& unit : units_)
    if (unit.outcome == Unit::Outcome::conflict)
      lost.insert(lost.end(), unit.operations.begin(), unit.operations.end());
  auto in = [](const std::vector<core::Operation*>& list, const core::Operation* operation) {
    return std::find(list.begin(), list.end(), operation) != list.end();
  };
  Operations again, later;
  if (!lost.empty() || !deferred_.empty()) {
    for (auto& operation : std::exchange(current_, {}))
      (in(lost, operation.get()) ? again : in(deferred_, operation.get()) ? later : answered_)
          .push_back(std::move(operation));
    current_ = std::move(again);
    if (!later.empty()) pieces_.push_front(std::move(later));
  }
  if (!lost.empty()) return conflict();
  answer_current();
  return next_piece();
}

void BatchRun::answer_current() {
  for (auto& operation : current_) answered_.push_back(std::move(operation));
  current_.clear();
}

BatchRun::State BatchRun::next_piece() {
  stage_ = Stage::start;
  units_.clear();
  return current_.empty() && pieces_.empty() ? State::finished : State::working;
}

void BatchRun::refuse_current(const Error& error) {
  for (auto& operation : current_) operation->refuse(error);
  answer_current();
}

BatchRun::State BatchRun::conflict() {
  ++retries_;
  ++failures_;
  foreseen_rounds_ = 0;
  rows_.clear();
  offers_.clear();
  stage_ = Stage::start;
  if (failures_ >= kConflictRetriesMax) {
    refuse_current({ErrorCode::retry_exhausted,
                    "Others kept changing the same records; nothing was changed by this call. Repeat it.",
                    {}});
    return next_piece();
  }
  // The second failure of a batch splits it: one operation that cannot succeed does not hold up the others.
  if (failures_ >= 2 && current_.size() > 1) {
    const auto middle = static_cast<std::ptrdiff_t>(current_.size() / 2);
    Operations rest(std::make_move_iterator(current_.begin() + middle), std::make_move_iterator(current_.end()));
    current_.erase(current_.begin() + middle, current_.end());
    pieces_.push_front(std::move(rest));
  }
  return State::backing_off;
}

BatchRun::State BatchRun::fault(Error error) {
  if (in_transaction_) session_.rollback();
  in_transaction_ = false;
  rows_.clear();
  for (const auto& offer : std::exchange(offers_, {}))
    if (offer.queue) planner_.gave_back(offer.queue, offer.key);
  if (error.code == ErrorCode::retry_exhausted) return conflict();
  // A fault that is not the store's own absence may come from one operation: run them apart before refusing.
  const bool whole_store = error.category() == ErrorCategory::transport || error.category() == ErrorCategory::limit;
  if (!whole_store && current_.size() > 1) {
    for (auto& operation : current_) pieces_.emplace_back().push_back(std::move(operation));
    current_.clear();
    stage_ = Stage::start;
    return State::working;
  }
  refuse_current(error);
  return next_piece();
}

}  // namespace ff::store
