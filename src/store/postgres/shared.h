#pragma once

#include "store/postgres/new_work.h"
#include "store/postgres/places.h"
#include "store/postgres/remembered.h"
#include "store/postgres/slots.h"
#include "store/postgres/wake_ups.h"
#include "store/store.h"

#include <atomic>

namespace ff::store::postgres {

/// What the connections of one store share.
struct PostgresShared {
  PostgresShared(Target to, StoreOptions with)
      : target(std::move(to)),
        options(std::move(with)),
        side(connection("flowfabric side")),
        queues(side),
        slots(side),
        wake_ups(connection("flowfabric listen"), connection("flowfabric notify", false), options.warn, queue_places) {}

  /// A connection that is not yet open.
  Connection connection(std::string application, bool durable = true) const {
    return Connection(target, {options.request_timeout_ms, durable, std::move(application)});
  }
  /// The time of a manual clock; none: the server has it.
  std::optional<TimeMs> manual_now() const {
    return options.clock ? std::optional(options.clock->now_ms()) : std::nullopt;
  }

  Target target;
  StoreOptions options;
  StoreInfo info;
  /// The latest time by which any session has decided: what is submitted later is not older.
  std::atomic<TimeMs> last_now = 0;
  std::atomic<std::uint16_t> event_shards = 8;
  Side side;
  QueueCache queues;
  Slots slots;
  QueuePlaces queue_places;
  DuePlace due_place;
  Remembered remembered;
  NewWork new_work;
  WakeUps wake_ups;
};

Result<std::unique_ptr<Session>> open_session(std::shared_ptr<PostgresShared> shared);
Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<PostgresShared> shared);

/// Brings the schema up to date under an advisory lock; returns the version that it had. `schema_too_new` or, without
/// `auto_migrate`, `version_unsupported` when it cannot be.
Result<int> migrate(Connection& connection, const StoreOptions& options);

}  // namespace ff::store::postgres
