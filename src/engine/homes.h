#pragma once

#include <flowfabric/ids.h>

#include <atomic>
#include <memory>
#include <optional>

namespace ff::engine {

/// Which executor has an execution at home: the one that gave out its lease.
///
/// What one claim got is completed, renewed and claimed again together; were it spread over all executors, each worker
/// would wait for all of them, and none could gather a large batch. All calls about such an execution go there, so that
/// those of one process do not wait for each other's locks. Only a hint: whatever is not known, or was pushed out by
/// another, is run elsewhere and as well.
class Homes {
 public:
  /// With one executor there is nothing to remember.
  explicit Homes(std::size_t executors);

  void leased(const ExecutionId& id, std::size_t executor);
  std::optional<std::size_t> of(const ExecutionId& id) const;

 private:
  /// More than are leased by one process at a time, as a rule.
  static constexpr std::size_t kPlaces = 32'768;
  static constexpr std::uint64_t kExecutorBits = 8;

  /// Each the hash of an id, with the number of the executor, from 1 on, in its lowest bits.
  std::unique_ptr<std::atomic<std::uint64_t>[]> places_;
};

}  // namespace ff::engine
