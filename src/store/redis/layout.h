#pragma once

// The names of the keys and the order of index entries: a contract with what is stored. Every key carries the hash tag
// of its partition, so that all that one commit touches lies in one slot.

#include "core/access.h"
#include "core/records/document.h"
#include "core/records/records.h"

namespace ff::store::redis {

inline constexpr int kLayoutVersion = 1;

/// One partition: its number, its hash tag and the slot of that.
struct Place {
  explicit Place(std::uint16_t number);

  std::uint16_t number;
  std::string tag;  ///< `{fp:7}`
  std::uint16_t slot;

  std::string record(const Uuid& uuid) const;
  // Parts of an execution that most operations do not touch.
  std::string data(const Uuid& uuid) const { return "ff:data:" + tag + ":" + uuid.to_string(); }
  std::string result(const Uuid& uuid) const { return "ff:result:" + tag + ":" + uuid.to_string(); }
  std::string attempts(const Uuid& uuid) const { return "ff:attempts:" + tag + ":" + uuid.to_string(); }
  std::string queue(const core::Queue& queue) const;
  /// The start and the end of the key of a queue, around its field in `queues`.
  std::string queue_start() const { return "ff:queue:" + tag + ":"; }
  static std::string queue_end(std::string_view lane_id) { return " " + std::string(lane_id); }
  std::string queues(std::string_view lane_id) const { return "ff:queues:" + tag + ":" + std::string(lane_id); }
  std::string due() const { return "ff:due:" + tag; }
  std::string retention() const { return "ff:retention:" + tag; }
  std::string created() const { return "ff:created:" + tag; }
  std::string raised() const { return "ff:raised:" + tag; }
  std::string tagged(std::string_view key, std::string_view value) const;
  std::string claim(std::string_view claim_key) const { return "ff:claim:" + tag + ":" + std::string(claim_key); }
  std::string reserved() const { return "ff:reserved:" + tag; }
  std::string counts() const { return "ff:counts:" + tag; }
  std::string events() const { return "ff:events:" + tag; }
  std::string event_head() const { return "ff:event_head:" + tag; }
  std::string audit() const { return "ff:audit:" + tag; }
  std::string key(const core::IdempotencyId& id) const;
  std::string key_expiry() const { return "ff:key_expiry:" + tag; }
  std::string wake() const { return "ff:wake:" + tag; }
  // Of partition 0 only.
  std::string lane(std::string_view lane_id) const { return "ff:lane:" + tag + ":" + std::string(lane_id); }
  std::string lanes() const { return "ff:lanes:" + tag; }
  std::string document(const core::DocumentId& id) const;
  std::string documents(core::DocumentKind kind) const;
  std::string documents_due(core::DocumentKind kind) const;
  std::string dataset() const { return "ff:dataset:" + tag; }
  std::string layout() const { return "ff:layout:" + tag; }
  std::string places() const { return "ff:places:" + tag; }
};

/// The queue's field among the queues of its lane.
std::string queue_field(const core::Queue& queue);

/// A key's member in the index by expiry.
std::string key_member(const core::IdempotencyId& id);
std::optional<core::IdempotencyId> key_from(std::string_view member);

/// A place in a queue, or among the raised priorities, as bytes that sort like it: priority (highest first), created, uuid.
inline constexpr std::size_t kOrderBytes = 28;
std::string order_bytes(const core::OrderKey& key);
core::OrderKey order_from(std::string_view bytes, std::uint16_t partition);

Uuid uuid_from(std::string_view bytes);

/// A count's field: its bucket and lane.
std::string count_field(Bucket bucket, std::string_view lane_id);

}  // namespace ff::store::redis
