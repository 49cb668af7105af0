#pragma once

// What several rows of a batch have in common. Most rows that one batch writes differ in their ids and little else; the
// rest goes to the server once, as a shape that the rows refer to by number, instead of once per row.

#include "store/postgres/params.h"

#include <flowfabric/ids.h>

#include <deque>

namespace ff::store::postgres {

/// The shapes of one statement. A shape is a struct of numbers and texts with `==`, and `texts(visit)`, which shows its
/// texts; they may point anywhere until the shape is kept.
template <class Shape>
class Shapes {
 public:
  struct Place {
    std::int32_t number;  ///< from 1 on
    bool is_new;
  };

  void clear() {
    kept_.clear();
    texts_.clear();
  }

  /// Looks among the latest only: a shape that is kept twice costs a little and does no harm.
  Place place_of(const Shape& shape) {
    const std::size_t oldest = kept_.size() > kLookedAtMax ? kept_.size() - kLookedAtMax : 0;
    for (std::size_t at = kept_.size(); at > oldest; --at)
      if (kept_[at - 1] == shape) return {static_cast<std::int32_t>(at), false};
    kept_.push_back(shape);
    kept_.back().texts([&](std::string_view& text) {
      if (!text.empty()) text = texts_.emplace_back(text);
    });
    return {static_cast<std::int32_t>(kept_.size()), true};
  }

 private:
  static constexpr std::size_t kLookedAtMax = 16;

  std::vector<Shape> kept_;
  std::deque<std::string> texts_;  ///< what the texts of the kept ones point to
};

/// What becomes of the places in the log that are kept with an execution.
enum class LogPlaces : std::int16_t { as_they_are = 0, one_more = 1, only_the_new = 2 };

/// Of new rows of the hot table.
struct NewShape {
  TimeMs created_at_ms;
  std::optional<TimeMs> due_at_ms, started_at_ms;
  TimeMs last_mutation_at_ms;
  std::uint64_t version, current_lease_epoch;
  std::int32_t queue_id, priority;
  std::int64_t state;
  std::uint32_t total_attempt_count;
  std::int64_t bucket;
  bool candidate, stray, logs;
  std::string_view lease, worker, claim_key, details, policy, tags, origin, payload_content_type;

  bool operator==(const NewShape&) const = default;
  void texts(auto&& visit) {
    for (auto* text : {&lease, &worker, &claim_key, &details, &policy, &tags, &origin, &payload_content_type}) visit(*text);
  }
};

/// Of changed rows that are live after the batch.
struct LiveShape {
  std::optional<TimeMs> due_at_ms, started_at_ms;
  TimeMs last_mutation_at_ms;
  std::uint64_t version, current_lease_epoch, from_version;
  std::int32_t priority;
  std::int64_t state;
  std::uint32_t total_attempt_count;
  std::int32_t from_slot;
  std::int64_t bucket;
  LogPlaces logs;
  bool candidate;
  std::string_view worker, claim_key, details;

  bool operator==(const LiveShape&) const = default;
  void texts(auto&& visit) {
    for (auto* text : {&worker, &claim_key, &details}) visit(*text);
  }
};

/// Of rows that have ended.
struct EndedShape {
  std::optional<TimeMs> retain_until_ms, started_at_ms;
  TimeMs last_mutation_at_ms;
  std::uint64_t version, current_lease_epoch, from_version;
  std::int32_t priority;
  std::int64_t state;
  std::uint32_t total_attempt_count;
  std::int32_t slot, from_slot;
  LogPlaces logs;
  bool keeps_result;
  std::string_view worker, details, result_content_type;

  bool operator==(const EndedShape&) const = default;
  void texts(auto&& visit) {
    for (auto* text : {&worker, &details, &result_content_type}) visit(*text);
  }
};

/// Of rows of the event log.
struct EventShape {
  TimeMs occurred_at_ms;
  std::optional<std::uint64_t> lease_epoch;
  std::optional<std::int32_t> queue_id;
  std::int64_t what;
  std::optional<std::uint32_t> attempt_index;
  std::string_view worker, reason, extra;

  bool operator==(const EventShape&) const = default;
  void texts(auto&& visit) {
    for (auto* text : {&worker, &reason, &extra}) visit(*text);
  }
};

}  // namespace ff::store::postgres
