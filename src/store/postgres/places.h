#pragma once

// Where searches begin.
//
// The entries of rows that have left a queue, or whose clock no longer runs, stay in their index until no transaction
// of the whole cluster could still see them. While somebody keeps an old transaction open, every search from the
// beginning steps over all that was ever taken since. So when a search was slow, the next ones begin where the last one
// found something alive. What may have come back before that place is known when this process did it, announced by
// other processes, and found in any case by whole searches, which go on at a pace that costs little.

#include <flowfabric/ids.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace ff::store::postgres {

/// When the next search has to be a whole one.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Whether the last whole search was slow.
  bool slow() const { return slow_; }
  bool wants_whole() const { return !slow_ || Clock::now() >= whole_at_; }
  /// A whole search took so long, for so many members.
  void searched(Clock::duration took, std::size_t members = 0);
  /// Something came back: the next whole search is made as soon as it may.
  void hurry() { whole_at_ = std::min(whole_at_, earliest_at_); }

 private:
  bool slow_ = false;
  Clock::time_point whole_at_{}, earliest_at_{};
};

/// Members of a queue with a priority between `low` and `high`, created at `from_ms` or later.
struct QueueRange {
  std::int32_t high, low;
  TimeMs from_ms;
};

/// A member that a search came across.
struct QueueMember {
  std::int32_t priority = 0;
  TimeMs created_at_ms = 0;
  bool stays = true;  ///< false: it has left the queue since
};

/// Where the queues go on. Thread-safe.
class QueuePlaces {
 public:
  enum class Who : std::uint8_t { take, look };
  static constexpr QueueRange kWhole{std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min(),
                                     std::numeric_limits<TimeMs>::min()};

  /// A search of one queue that is under way.
  struct Search {
    std::int32_t queue_id = 0;
    Who who = Who::take;
    std::vector<QueueRange> ranges;  ///< what it has to go through, in order
    bool whole = true;
    std::uint64_t began = 0;  ///< in the order of the searches of its queue
    std::optional<Pace::Clock::duration> took;
  };
  /// What it found, in order; `exhausted` when it saw all that was there. `now` is the store's clock.
  struct Found {
    std::vector<QueueMember> members;
    bool exhausted = false;
    TimeMs now = 0;
  };

  Search begin(std::int32_t queue_id, Who who);
  /// A search of every queue that is slow.
  std::vector<Search> begin_slow(Who who);
  /// Ends a search; without `found` nothing is learnt from it.
  void end(const Search& search, const std::optional<Found>& found);

  /// A whole look at a queue took so long that later ones had better begin with `begin_slow`.
  void looked(std::int32_t queue_id, Pace::Clock::duration took);

  /// This process put something into a queue, or let go of a member that it had held: a search that began before may
  /// have passed over it.
  void appeared(std::int32_t queue_id, const QueueMember& member);
  /// Another process put something back into some queue.
  void distrust();
  /// Whether there is any queue to tell about.
  bool any() const { return any_; }

 private:
  struct Place {
    std::map<std::int32_t, TimeMs, std::greater<>> by_priority;
    TimeMs floor_ms = std::numeric_limits<TimeMs>::min();  ///< for all other priorities
    /// What appeared after the search with that number began, the earliest by priority.
    std::map<std::pair<std::uint64_t, std::int32_t>, TimeMs> appeared;
    std::set<std::uint64_t> under_way;
    std::uint64_t searches = 0;
    Pace take, look;

    Pace& pace(Who who) { return who == Who::take ? take : look; }
    bool slow() const { return take.slow() || look.slow(); }
    std::vector<QueueRange> ranges() const;
    void learn(const Found& found, std::uint64_t began);
  };
  Search begin(std::int32_t queue_id, Place& place, Who who);

  std::mutex mutex_;
  std::atomic<bool> any_ = false;
  std::unordered_map<std::int32_t, Place> places_;
};

/// The same for the clocks of executions. Thread-safe.
class DuePlace {
 public:
  struct Search {
    TimeMs from_ms = std::numeric_limits<TimeMs>::min();  ///< from when on it has to look
    bool whole = true;
    Pace::Clock::time_point started{};
  };

  Search begin();
  /// `first` is the earliest clock that it found; none: nothing has rung. `now` is the store's clock.
  void end(const Search& search, std::optional<TimeMs> first, TimeMs now);
  /// A commit of this process set a clock.
  void appeared(TimeMs due_at_ms);

 private:
  std::mutex mutex_;
  TimeMs from_ms_ = std::numeric_limits<TimeMs>::min();
  TimeMs appeared_ms_ = std::numeric_limits<TimeMs>::max();  ///< the earliest since the oldest search under way
  int under_way_ = 0;
  Pace pace_;
};

}  // namespace ff::store::postgres
