#pragma once

// One batch on its way through a store: load, decide, take for claims, save. Written as steps, so that a simulation
// can interleave several batches and stop them anywhere; a production thread simply steps until it is finished.

#include "core/ops/claim_operation.h"
#include "store/store.h"

namespace ff::store {

/// Chooses from which queues the claims of a batch take; the engine's directory answers from memory.
class Planner {
 public:
  struct Row {
    std::size_t claim = 0;  ///< which of the claims it is for
    TakeRow take;
  };

  virtual ~Planner() = default;
  /// Rows for the claims that want more; none: nothing is known to wait for them. `last` may promise more than is
  /// wanted, because no round follows.
  virtual std::vector<Row> plan(std::span<core::ClaimOperation* const> claims, bool last) = 0;
  /// What the take by these rows found; keeps the directory true.
  virtual void took(std::span<const Row> rows, std::span<const Taken> taken) = 0;
  /// A candidate that was taken stands in its queue again, because the commit of its lease failed.
  virtual void gave_back(const QueueRef& queue, const OrderKey& key) = 0;
};

/// Candidates that came into one queue.
struct Gain {
  QueueRef queue;
  std::uint32_t count = 0;
};

/// Rounds of reads that depend on each other, and of takes for claims that came up short.
inline constexpr int kReadRoundsMax = 3;
inline constexpr int kTakeRoundsMax = 3;
/// Conflicts of a store are retried this often, with growing waits, about a second in all, before the callers hear of it.
inline constexpr int kConflictRetriesMax = 10;

class BatchRun {
 public:
  using Operations = std::vector<std::unique_ptr<core::Operation>>;

  BatchRun(Session& session, Planner& planner, const StoreTraits& traits, Operations operations);
  ~BatchRun();
  BatchRun(const BatchRun&) = delete;

  enum class State : std::uint8_t {
    working,   ///< call again
    blocked,   ///< somebody holds a lock; call again later
    backing_off,  ///< a conflict; call again after `back_off_ms`
    finished,  ///< every operation has its answer
  };
  State step();

  std::uint32_t back_off_ms() const;
  int retries() const { return retries_; }
  std::uint64_t commits() const { return commits_; }

  /// After a commit: the units of this attempt that committed, before their operations are handed out.
  const std::deque<Unit>& units() const { return units_; }
  /// Operations that have their answers; moves them out.
  Operations take_answered();

  /// Called with what the batch is about to put into queues: claims that wait for it join the batch. Once; after a
  /// conflict they are claims like others.
  std::function<Operations(std::span<const Gain>)> on_made;
  /// Called after each commit with its committed units, on the thread that steps.
  std::function<void(const std::deque<Unit>&)> on_commit;

 private:
  enum class Stage : std::uint8_t { start, load, decide, claims, take, save };

  State start();
  State load();
  State lock_more(const core::Reads& wanted);
  State decide();
  State claims();
  State take();
  void let_waiting_join();
  void give_what_was_made();
  State save();
  State fault(Error error);
  State conflict();
  State next_piece();
  void make_units();
  void answer_current();
  void refuse_current(const Error& error);

  Session& session_;
  Planner& planner_;
  StoreTraits traits_;

  /// Pieces that are still to be run: one, unless a batch had to be split after repeated conflicts.
  std::deque<Operations> pieces_;
  Operations current_;
  Operations answered_;
  std::deque<Unit> units_;

  Stage stage_ = Stage::start;
  bool in_transaction_ = false;
  int read_round_ = 0;
  /// Records that were found to be needed only after others had been locked: the next try asks for them at once.
  std::vector<ExecutionId> foreseen_executions_;
  std::vector<core::IdempotencyId> foreseen_keys_;
  int foreseen_rounds_ = 0;
  std::size_t claim_at_ = 0;
  int take_round_ = 0;
  int failures_ = 0;  ///< of the current piece
  int retries_ = 0;
  std::uint64_t commits_ = 0;

  /// Operations that have to wait for the next piece.
  std::vector<core::Operation*> deferred_;
  std::vector<core::ClaimOperation*> claims_;
  struct Offer {
    std::size_t claim;
    Unit* unit;
    QueueRef queue;  ///< from which it was taken; none: the batch has made it
    OrderKey key;
  };
  std::vector<Offer> offers_;
  struct Made {
    OrderKey key;
    Unit* unit;
  };
  std::vector<Made> made_;
  std::size_t first_joined_ = 0;  ///< of `claims_`
  bool has_joined_ = false;
  std::vector<Planner::Row> rows_;
};

}  // namespace ff::store
