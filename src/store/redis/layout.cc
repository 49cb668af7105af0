#include "store/redis/layout.h"

#include "core/bytes.h"
#include "core/ids.h"
#include "store/redis/topology.h"

#include <limits>

namespace ff::store::redis {
namespace {

constexpr std::int64_t kHighestPriority = std::numeric_limits<std::int32_t>::max();

}  // namespace

Place::Place(std::uint16_t n) : number(n), tag(fmt::format("{{fp:{}}}", n)), slot(slot_of(tag)) {}

std::string Place::record(const Uuid& uuid) const { return "ff:exec:" + tag + ":" + uuid.to_string(); }

// A class has 16 digits and a namespace no blanks, so the name can be read back.
std::string queue_field(const core::Queue& queue) { return queue.queue_class + ":" + queue.namespace_; }

std::string Place::queue(const core::Queue& queue) const {
  return queue_start() + queue_field(queue) + queue_end(queue.lane_id);
}

// Keys of tags have no '='.
std::string Place::tagged(std::string_view key, std::string_view value) const {
  return fmt::format("ff:tag:{}:{}={}", tag, key, value);
}

std::string Place::key(const core::IdempotencyId& id) const { return "ff:key:" + tag + ":" + key_member(id); }

// Tables of documents are known by their names without the prefix.
std::string Place::document(const core::DocumentId& id) const {
  return fmt::format("ff:{}:{}:{}", core::table_of(id.kind).substr(3), tag, id.key);
}
std::string Place::documents(core::DocumentKind kind) const {
  return fmt::format("ff:{}_keys:{}", core::table_of(kind).substr(3), tag);
}
std::string Place::documents_due(core::DocumentKind kind) const {
  return fmt::format("ff:{}_due:{}", core::table_of(kind).substr(3), tag);
}

// Operations have no ':' and namespaces no blanks.
std::string key_member(const core::IdempotencyId& id) {
  return id.operation + ":" + id.namespace_ + " " + id.idempotency_key;
}

std::optional<core::IdempotencyId> key_from(std::string_view member) {
  const auto colon = member.find(':');
  const auto blank = member.find(' ', colon == std::string_view::npos ? 0 : colon);
  if (colon == std::string_view::npos || blank == std::string_view::npos) return std::nullopt;
  return core::IdempotencyId{std::string(member.substr(colon + 1, blank - colon - 1)),
                             std::string(member.substr(0, colon)), std::string(member.substr(blank + 1))};
}

std::string order_bytes(const core::OrderKey& key) {
  std::string bytes;
  bytes.reserve(kOrderBytes);
  core::put(bytes, static_cast<std::uint32_t>(kHighestPriority - key.priority));
  core::put(bytes, key.created_at_ms);
  return bytes.append(core::raw_bytes(key.id.uuid));
}

core::OrderKey order_from(std::string_view bytes, std::uint16_t partition) {
  core::OrderKey key;
  if (bytes.size() != kOrderBytes) return key;
  key.priority = static_cast<std::int32_t>(kHighestPriority - core::get<std::uint32_t>(bytes, 0));
  key.created_at_ms = core::get<TimeMs>(bytes, 4);
  key.id = {partition, core::get_uuid(bytes, 12)};
  return key;
}

Uuid uuid_from(std::string_view bytes) { return bytes.size() == 16 ? core::get_uuid(bytes, 0) : Uuid{}; }

std::string count_field(Bucket bucket, std::string_view lane_id) {
  return fmt::format("{} {}", static_cast<int>(bucket), lane_id);
}

}  // namespace ff::store::redis
