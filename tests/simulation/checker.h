#pragma once

// Looks at the stored data after every commit and holds it against the invariants that must always be true.

#include "book.h"
#include "history.h"
#include "trace.h"

#include "store/memory/memory_store.h"

namespace ff::sim {

class Checker {
 public:
  Checker(store::MemoryStore& store, const SimOptions& options, History& history, Book& book, Trace& trace,
          Verdict& verdict)
      : store_(store),
        data_(store.data()),
        options_(options),
        history_(history),
        book_(book),
        trace_(trace),
        verdict_(verdict) {}

  /// Brings the history up to date and checks what has changed. `step` and `now_us` are those of the scheduler;
  /// `latest` is the furthest that the store's clock has ever been.
  void look(std::uint64_t step, std::int64_t now_us, TimeMs latest);
  /// What is too slow to be compared after every commit.
  void look_at_everything();

 private:
  using Row = store::MemoryData::Row;

  // records
  bool changed();
  void compare_records();
  void born(const ExecutionId& id, const Row& row);
  void check_submission(const Life& life, const Row& row);
  void check_key_is_new(const Life& life, const Row& row);
  void check_gone(const Life& life);
  void check_change(const Life& life, const Row& row);
  void check_frozen(const Life& life, const Row& row);
  void check_clocks(const Life& life, const Row& row);
  void check_attempts(Life& life, const Row& row);
  // events
  void read_events();
  void read_events_of(const ExecutionId& id, const std::vector<const core::EventRecord*>& events);
  void lane_configured(const core::EventRecord& event);
  void apply(Life& life, const core::EventRecord& event);
  void apply_lease(Life& life, const core::EventRecord& event);
  void lease_issued(Life& life, const core::EventRecord& event);
  void check_lane_is_open(const Life& life);
  void check_was_first(const Life& life);
  void apply_operator(Life& life, const core::EventRecord& event);
  void check_against_events(const Life& life, const core::ExecutionRecord& record);
  // effects
  void look_for_effects(const Life& life, const Row& row);
  void effect(std::string_view text, std::initializer_list<Act> acts, const Life& life,
              std::optional<std::pair<std::uint64_t, std::uint64_t>> epochs);
  // the rest
  static core::IdempotencyId create_key(const Row& row);
  void check_keys();
  void check_lanes();
  void check_indexes();

  template <class... Args>
  void fail(const ExecutionId& id, fmt::format_string<Args...> format, Args&&... args) {
    verdict_.fail("{}: {}", id.to_string(), fmt::format(format, std::forward<Args>(args)...));
  }

  store::MemoryStore& store_;
  store::MemoryData& data_;
  const SimOptions& options_;
  History& history_;
  Book& book_;
  Trace& trace_;
  Verdict& verdict_;

  std::uint64_t step_ = 0;
  std::int64_t now_us_ = 0;
  TimeMs latest_ = 0;
  std::uint64_t fingerprint_ = 0;
  std::int64_t last_event_id_ = 0;
  std::uint64_t looks_ = 0;
  std::map<ExecutionId, Life*> alive_;
  /// A life that this look has found changed. `now` is null when it is over; the life still shows the row as it was.
  struct Touched {
    Life* life = nullptr;
    const Row* now = nullptr;
  };
  std::map<ExecutionId, Touched> touched_;
  /// The newest execution that was made under a key, and until when the key stands for it.
  struct KeyUse {
    ExecutionId id;
    std::uint64_t step = 0;
    TimeMs until_ms = 0;
  };
  std::map<core::IdempotencyId, KeyUse> key_uses_;
  std::map<core::IdempotencyId, core::IdempotencyRecord> keys_;
  std::map<std::string, Lane> lanes_;
  std::map<store::MemoryData::QueueName, std::set<core::OrderKey>> queues_;
};

}  // namespace ff::sim
