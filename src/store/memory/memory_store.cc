#include "store/memory/memory_store.h"

#include "store/memory/memory_shared.h"
#include "store/system_clock.h"

namespace ff::store {

TimeMs MemoryStore::Shared::now(const StoreOptions& options, std::uint16_t partition) const {
  const TimeMs base = options.clock ? options.clock->now_ms() : system_now_ms();
  return character == MemoryCharacter::optimistic ? base + (partition % 5) * 50 - 100 : base;
}

MemoryStore::MemoryStore(StoreOptions options, MemoryCharacter character)
    : shared_(std::make_shared<Shared>()), options_(std::move(options)) {
  shared_->character = character;
}

MemoryStore::MemoryStore(std::shared_ptr<Shared> shared, StoreOptions options)
    : shared_(std::move(shared)), options_(std::move(options)) {}

MemoryStore::~MemoryStore() { watch(nullptr); }

std::unique_ptr<MemoryStore> MemoryStore::share() {
  return std::unique_ptr<MemoryStore>(new MemoryStore(shared_, options_));
}

MemoryData& MemoryStore::data() { return shared_->data; }

std::uint64_t MemoryStore::deadlocks() const {
  std::lock_guard guard(shared_->data.mutex);
  return shared_->deadlocks;
}

StoreInfo MemoryStore::info() {
  return {"memory", "1", Durability::none, "nothing survives the process", {}};
}

StoreTraits MemoryStore::traits() const {
  const bool optimistic = shared_->character == MemoryCharacter::optimistic;
  const bool locking = shared_->character == MemoryCharacter::locking;
  return {shared_->character == MemoryCharacter::serial ? 1U : 2U, !optimistic, !optimistic, locking};
}

Result<core::Dataset> MemoryStore::adopt_dataset(const core::Dataset& proposed) {
  std::lock_guard guard(shared_->data.mutex);
  if (!shared_->data.dataset) shared_->data.dataset = proposed;
  return *shared_->data.dataset;
}

Result<void> MemoryStore::set_engine_version(const std::string& version) {
  std::lock_guard guard(shared_->data.mutex);
  if (shared_->data.dataset) shared_->data.dataset->engine_version = version;
  return {};
}

Result<std::unique_ptr<Session>> MemoryStore::open_session() {
  return std::make_unique<MemorySession>(this, shared_, options_);
}

Result<std::unique_ptr<Reader>> MemoryStore::open_reader() { return make_memory_reader(shared_, options_); }

void MemoryStore::watch(ForeignWatcher* watcher) {
  std::lock_guard guard(shared_->watch_mutex);
  std::erase_if(shared_->watchers, [&](const auto& item) { return item.first == this; });
  if (watcher) shared_->watchers.emplace_back(this, watcher);
}

}  // namespace ff::store
