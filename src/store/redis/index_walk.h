#pragma once

#include "core/ids.h"
#include "store/redis/places.h"

#include <deque>

namespace ff::store::redis {

/// The times between which every entry of an index stands.
inline constexpr TimeMs kFirstTime = 0, kLastTime = 1LL << 52;

/// One entry of an index by time.
struct IndexEntry {
  TimeMs at = 0;
  std::uint16_t partition = 0;
  std::string member;  ///< most often the bytes of a uuid, or what ends with them

  /// How an execution stands in an index by time.
  static IndexEntry of(TimeMs at, const ExecutionId& id) {
    return {at, id.partition, std::string(core::raw_bytes(id.uuid))};
  }
  ExecutionId id() const { return {partition, uuid_from(std::string_view(member).substr(member.size() - 16))}; }
};

/// Walks the sorted sets of one kind over all partitions as if they were one: by time, then by member, or where all
/// times are 0 by member alone. Pages are read ahead, those of several partitions at once.
class IndexWalk {
 public:
  struct Range {
    TimeMs from;  ///< inclusive
    TimeMs to;    ///< inclusive
    bool descending = false;
    std::optional<IndexEntry> behind = {};  ///< go on behind this entry
    std::uint32_t first_page = 32;
    bool by_member = false;  ///< every entry stands at time 0
    bool tolerant = false;  ///< partitions that do not answer are left out, unless none does
  };

  /// `key_of` names the index of a partition.
  IndexWalk(Link& link, std::vector<Place> places, const std::function<std::string(const Place&)>& key_of, Range range);

  /// The next entry; none: the end.
  Result<std::optional<IndexEntry>> next();

 private:
  struct Part {
    std::uint16_t partition;
    std::uint16_t slot;
    std::string key;
    std::deque<IndexEntry> entries = {};
    bool at_end = false;
    std::uint32_t page = 0;
    TimeMs last_at = 0;               ///< of the last entry that was read
    std::string last_member = {};
    std::set<std::string> seen = {};  ///< members at that time that were read
    bool started = false;
  };
  Result<void> fill();
  Command page_of(const Part& part, std::uint32_t count) const;
  bool before(const IndexEntry& a, const IndexEntry& b) const;

  Link& link_;
  Range range_;
  std::vector<Part> parts_;
};

}  // namespace ff::store::redis
