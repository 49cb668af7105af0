#pragma once

#include "store/memory/memory_data.h"

namespace ff::store {

/// How sessions of a memory store get in each other's way: like SQLite, like Postgres, like Valkey.
enum class MemoryCharacter : std::uint8_t {
  serial,      ///< one transaction at a time
  locking,     ///< rows are locked as they are loaded; takes pass over locked rows; a deadlock is a failure
  optimistic,  ///< nothing is locked; a commit whose records have changed is refused; clocks differ by partition
};

/// The model that the other stores are compared with, and the store of the simulation. Nothing survives it.
class MemoryStore : public Store {
 public:
  explicit MemoryStore(StoreOptions options = {}, MemoryCharacter character = MemoryCharacter::serial);
  ~MemoryStore() override;

  StoreInfo info() override;
  StoreTraits traits() const override;
  Result<core::Dataset> adopt_dataset(const core::Dataset& proposed) override;
  Result<void> set_engine_version(const std::string& version) override;
  Result<std::unique_ptr<Session>> open_session() override;
  Result<std::unique_ptr<Reader>> open_reader() override;
  void watch(ForeignWatcher* watcher) override;
  void set_watchful(bool) override {}

  /// A second store object over the same data, as another process would have.
  std::unique_ptr<MemoryStore> share();

  /// The data itself, for tests that look at everything.
  MemoryData& data();
  /// How often two sessions waited for each other in a circle; the lock order makes that impossible.
  std::uint64_t deadlocks() const;

  struct Shared;

 private:
  MemoryStore(std::shared_ptr<Shared> shared, StoreOptions options);

  std::shared_ptr<Shared> shared_;
  StoreOptions options_;
  ForeignWatcher* watcher_ = nullptr;
};

}  // namespace ff::store
