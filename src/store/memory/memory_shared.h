#pragma once

#include "store/memory/memory_store.h"

namespace ff::store {

class MemorySession;

/// What all store objects over one data set have in common. Guarded by `data.mutex`.
struct MemoryStore::Shared {
  MemoryData data;
  MemoryCharacter character = MemoryCharacter::serial;
  MemorySession* transaction = nullptr;                    ///< serial: who is inside
  std::map<std::string, MemorySession*> locks;             ///< locking: by record
  std::map<MemorySession*, std::string> waits_for;         ///< locking: the record that each waits for
  std::map<ExecutionId, std::pair<MemorySession*, TimeMs>> reserved;  ///< optimistic: candidates that a claim took
  std::uint64_t deadlocks = 0;

  std::mutex watch_mutex;  ///< guards the watchers, and is held while they are called
  std::vector<std::pair<MemoryStore*, ForeignWatcher*>> watchers;

  /// The clock of a partition; in the optimistic character nodes differ by up to 200 ms.
  TimeMs now(const StoreOptions& options, std::uint16_t partition) const;
};

/// Reads a memory store; each call is one snapshot.
std::unique_ptr<Reader> make_memory_reader(std::shared_ptr<MemoryStore::Shared> shared, StoreOptions options);

class MemorySession final : public Session {
 public:
  MemorySession(MemoryStore* owner, std::shared_ptr<MemoryStore::Shared> shared, StoreOptions options)
      : owner_(owner), shared_(std::move(shared)), options_(std::move(options)) {}
  ~MemorySession() override { rollback(); }

  Result<Step> begin() override;
  Result<Step> load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) override;
  Result<Step> take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) override;
  Result<std::vector<ExecutionId>> claimed_under(const std::string& worker_instance_id,
                                                 const std::string& claim_key) override;
  Result<Step> save(std::span<Unit* const> units) override;
  void rollback() override;
  Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) override;

 private:
  bool lock(const std::string& name);
  std::vector<std::string> locks_for(std::span<core::Reads> reads) const;
  bool lock_all(std::span<core::Reads> reads);
  void fill(core::WorkingSet& set, const core::Reads& reads);
  void load_candidate(core::WorkingSet& set, const ExecutionId& id);
  bool conflicts(core::WorkingSet& set) const;
  void release();
  void tell_others(bool committed);

  MemoryStore* owner_;
  std::shared_ptr<MemoryStore::Shared> shared_;
  StoreOptions options_;
  std::optional<std::vector<std::string>> wanted_locks_;  ///< of a load that is blocked
};

}  // namespace ff::store
