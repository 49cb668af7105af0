#pragma once

#include "store/redis/layout.h"
#include "store/redis/rows.h"
#include "store/store.h"

#include <unordered_map>

namespace ff::store::redis {

/// What the loads of a batch brought, each unit for itself: two units may have seen different states of a record, and
/// each relies on its own.
class Loads {
 public:
  struct Execution {
    std::string value;  ///< as stored
    LastEvents last_events;
    std::optional<ResultType> result;
  };

  void clear() {
    executions_.clear();
    values_.clear();
  }
  /// What a unit has already is left as it is.
  void add(const core::WorkingSet& set, const ExecutionId& id, Execution loaded) {
    executions_.try_emplace({&set, id}, std::move(loaded));
  }
  void add(const core::WorkingSet& set, std::string key, std::string_view value) {
    values_.try_emplace({&set, std::move(key)}, value);
  }
  const Execution* execution(const core::WorkingSet& set, const ExecutionId& id) const {
    auto it = executions_.find({&set, id});
    return it == executions_.end() ? nullptr : &it->second;
  }
  /// Empty: nothing was stored.
  std::string_view value(const core::WorkingSet& set, const std::string& key) const {
    auto it = values_.find({&set, key});
    return it == values_.end() ? std::string_view() : it->second;
  }

 private:
  using Key = std::pair<const core::WorkingSet*, ExecutionId>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<ExecutionId>()(key.second) ^ std::hash<const void*>()(key.first);
    }
  };
  std::unordered_map<Key, Execution, Hash> executions_;
  std::map<std::pair<const core::WorkingSet*, std::string>, std::string> values_;
};

/// One call of the commit function: units of one partition that commit together. What several of them add to an index
/// is one command.
class CommitCall {
 public:
  CommitCall(std::uint16_t partition, bool only_erases) : place_(partition), only_erases_(only_erases) {}

  const Place& place() const { return place_; }
  std::uint32_t units() const { return units_; }
  /// Whether something changed that others may wait for.
  bool wakes() const { return wakes_; }
  Command command() const;
  /// Which unit relies on the record that the server names.
  std::uint32_t unit_of(std::int64_t record) const;

 private:
  friend class Commit;
  /// Arguments for one command, in lists that are short enough for the server.
  using Slices = std::vector<Args>;
  struct Compared {
    std::string key;
    std::uint32_t unit;
    std::string expected;
    std::size_t what = 0;  ///< 0: only compared, 1: written, n + 2: written behind the number of the entry n
    std::string value = {};
  };
  struct Listing {
    std::string queues, field;
    std::optional<std::string> description;  ///< set: somebody joined the queue
    bool left = false;                       ///< somebody left it
  };

  std::size_t compare(std::string key, std::string_view expected);
  void extend(std::map<std::string, Slices>& commands, const std::string& key,
              std::initializer_list<std::string_view> args);
  void add(const std::string& index, std::string_view score, std::string_view member) {
    extend(adds_, index, {score, member});
  }
  void remove(const std::string& index, std::string_view member) { extend(removes_, index, {member}); }

  Place place_;
  bool only_erases_;
  TimeMs latest_ms_ = 0;  ///< by the server's clock, for the decisions to count; 0: any
  std::uint32_t units_ = 0;
  bool wakes_ = false;
  std::vector<Compared> compared_;
  std::vector<std::pair<std::string, std::string>> sets_;
  std::vector<std::string> erased_;
  EventEntries events_;
  std::map<std::string, Slices> removes_, adds_;
  std::map<std::string, Listing> listings_;
  std::map<std::string, std::int64_t> counts_;
  struct Other {
    std::string_view name;
    std::string key;
    Args args;
  };
  std::vector<Other> others_;
};

/// The key that tells whether a commit happened when its reply was lost; none when there is none to ask.
struct Witness {
  std::string key;
  bool erased = false;  ///< by the commit

  /// Whether it happened, by what the key holds now.
  bool tells(const Value& value, std::string_view mark) const;
};

/// One unit in a call: what it relied on, and all that it wants written. Index entries are the difference between those
/// of the records as loaded and as they are now.
class Commit {
 public:
  /// What the session knows besides the records.
  struct Context {
    const Loads& loads;
    /// Candidates that this session reserved.
    const std::set<ExecutionId>& reserved;
    /// The latest time of the server at which the decision still counts; 0: any.
    TimeMs latest_ms = 0;
    /// Left in the records, so that a commit whose reply was lost can be told from one that never happened.
    std::string_view mark;
  };

  /// The partition of everything that a unit relies on or writes. `invariant_violation` when there are several.
  static Result<std::uint16_t> partition_of(Unit& unit, const core::Partitioning& partitioning);
  /// Whether it only removes.
  static bool only_erases(Unit& unit);
  /// Adds a unit to a call.
  Commit(Unit& unit, const Context& context, CommitCall& call);

  const Witness& witness() const { return witness_; }

 private:
  void stand_witness(const std::string& key, bool erased);
  void write(std::size_t compared, std::string value, std::size_t what = 1);

  using NewEvents = std::map<ExecutionId, EventEntries::Newest>;
  NewEvents add_events(core::WorkingSet& set);
  using ExecutionSlot = core::Table<ExecutionId, ExecutionRecord>::Slot;
  void add_execution(core::WorkingSet& set, const ExecutionSlot& slot, const NewEvents& events, std::size_t compared);
  void add_value(core::WorkingSet& set, const ExecutionSlot& slot, const NewEvents& events, std::size_t compared);
  void add_entries(const ExecutionRecord* before, const ExecutionRecord* after, const ExecutionId& id);
  void add_tags(const ExecutionRecord* before, const ExecutionRecord* after, const ExecutionId& id);
  void add_parts(core::WorkingSet& set);
  void add_lanes(core::WorkingSet& set);
  void add_keys(core::WorkingSet& set);
  void add_documents(core::WorkingSet& set);

  CommitCall& call_;
  const Context& context_;
  Witness witness_;
};

}  // namespace ff::store::redis
