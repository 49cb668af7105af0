#pragma once

// The records of one batch in memory: loaded by the store, looked at and changed by decisions, saved once.

#include "core/records/document.h"
#include "core/records/event.h"
#include "core/records/records.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ff::core {

/// All records of one kind that a batch has touched.
template <class Key, class Value>
class Table {
 public:
  struct Slot {
    Key key;
    std::shared_ptr<const Value> value;   ///< as it is now; null: it does not exist
    std::shared_ptr<const Value> before;  ///< as it was loaded; meaningful once `dirty`
    bool stored = false;                  ///< it was in the store when it was loaded
    bool dirty = false;
  };

  Table() = default;
  Table(const Table&) = delete;  // the index points into the slots
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  const Slot* find(const Key& key) const { return const_cast<Table*>(this)->slot_of(key); }
  const Value* get(const Key& key) const {
    const Slot* slot = find(key);
    return slot ? slot->value.get() : nullptr;
  }
  /// Called by the store with what it found, or null. What the batch has already is left as it is.
  const Slot& loaded(const Key& key, std::shared_ptr<const Value> value) {
    if (const Slot* known = find(key)) return *known;
    const bool stored = value != nullptr;
    return add({key, std::move(value), nullptr, stored, false});
  }
  const Slot& loaded(const Key& key, std::optional<Value> value) {
    return loaded(key, value ? std::make_shared<Value>(std::move(*value)) : nullptr);
  }
  void write(const Key& key, std::shared_ptr<const Value> value) {
    Slot* known = slot_of(key);
    Slot& slot = known ? *known : add({key, nullptr, nullptr, false, false});
    if (!slot.dirty) slot.before = std::move(slot.value);
    slot.value = std::move(value);
    slot.dirty = true;
  }
  /// In the order in which they came up.
  const std::list<Slot>& slots() const { return slots_; }
  bool empty() const { return slots_.empty(); }

 private:
  /// Most tables of a small batch are empty or hold one record: up to here looking through them costs less than an index.
  static constexpr std::size_t kUnindexedMax = 8;

  Slot* slot_of(const Key& key) {
    if (slots_.size() > kUnindexedMax) {
      auto it = index_.find(key);
      return it == index_.end() ? nullptr : it->second;
    }
    for (auto& slot : slots_)
      if (slot.key == key) return &slot;
    return nullptr;
  }
  Slot& add(Slot slot) {
    slots_.push_back(std::move(slot));
    if (slots_.size() == kUnindexedMax + 1)
      for (auto& each : slots_) index_.emplace(each.key, &each);
    else if (slots_.size() > kUnindexedMax)
      index_.emplace(slots_.back().key, &slots_.back());
    return slots_.back();
  }

  boost::unordered_flat_map<Key, Slot*, std::hash<Key>> index_;
  std::list<Slot> slots_;
};

/// What a decision looks at. A pointer is valid until the decision has been applied; null: there is no such record.
class Records {
 public:
  const ExecutionRecord* execution(const ExecutionId& id) const { return executions_.get(id); }
  const ExecutionInfo* info(const ExecutionId& id) const { return infos_.get(id); }
  const PayloadPart* payload(const ExecutionId& id) const { return payloads_.get(id); }
  const ResultPart* result(const ExecutionId& id) const { return results_.get(id); }
  /// The attempt of that index, the newest or an older one.
  const Attempt* attempt(const ExecutionId& id, std::uint32_t index) const {
    const ExecutionRecord* root = execution(id);
    if (root && root->attempt && root->attempt->attempt_index == index) return &*root->attempt;
    return attempts_.get({id, index});
  }
  const Lane* lane(const std::string& id) const { return lanes_.get(id); }
  const IdempotencyRecord* key(const IdempotencyId& id) const { return keys_.get(id); }
  const Document* document(const DocumentId& id) const { return documents_.get(id); }

 protected:
  friend class Reads;
  Table<ExecutionId, ExecutionRecord> executions_;
  Table<ExecutionId, ExecutionInfo> infos_;
  Table<ExecutionId, PayloadPart> payloads_;
  Table<ExecutionId, ResultPart> results_;
  Table<AttemptKey, Attempt> attempts_;
  Table<std::string, Lane> lanes_;
  Table<IdempotencyId, IdempotencyRecord> keys_;
  Table<DocumentId, Document> documents_;
};

/// What is still to be loaded. Asking for a record that the working set has already asks for nothing.
class Reads {
 public:
  explicit Reads(const Records& have) : have_(have) {}

  void execution(const ExecutionId& id) { want(have_.executions_, executions, id); }
  void info(const ExecutionId& id) { want(have_.infos_, infos, id); }
  void payload(const ExecutionId& id) { want(have_.payloads_, payloads, id); }
  void attempt(const AttemptKey& key) { want(have_.attempts_, attempts, key); }
  /// For reference: not locked, and may be a second old where lanes live apart from executions.
  void lane(const std::string& id) { want(have_.lanes_, lanes, id); }
  void key(const IdempotencyId& id) { want(have_.keys_, keys, id); }
  /// Not locked either: whoever writes one that somebody else has changed meanwhile is decided again.
  void document(const DocumentId& id) { want(have_.documents_, documents, id); }

  bool empty() const {
    return executions.empty() && infos.empty() && payloads.empty() && attempts.empty() && lanes.empty() &&
           keys.empty() && documents.empty();
  }

  std::vector<ExecutionId> executions, infos, payloads;
  std::vector<AttemptKey> attempts;
  std::vector<std::string> lanes;
  std::vector<IdempotencyId> keys;
  std::vector<DocumentId> documents;

 private:
  template <class T, class Key>
  static void want(const T& table, std::vector<Key>& list, const Key& key) {
    if (!table.find(key)) list.push_back(key);
  }

  const Records& have_;
};

/// What a decision wants changed. Saving an execution derives what follows from it: public state, times, version.
class Writes {
 public:
  explicit Writes(TimeMs now) : now_(now) {}

  void insert(std::shared_ptr<ExecutionRecord> record);
  void insert(ExecutionRecord&& record) { insert(std::make_shared<ExecutionRecord>(std::move(record))); }
  void update(const ExecutionRecord& before, std::shared_ptr<ExecutionRecord> after);
  void update(const ExecutionRecord& before, ExecutionRecord&& after) {
    update(before, std::make_shared<ExecutionRecord>(std::move(after)));
  }
  /// Removes the execution and every part of it; its events stay.
  void erase(const ExecutionId& id) { erased.push_back(id); }
  void info(const ExecutionId& id, ExecutionInfo value) { infos.emplace_back(id, std::move(value)); }
  void payload(const ExecutionId& id, PayloadPart value) { payloads.emplace_back(id, std::move(value)); }
  /// None clears it.
  void result(const ExecutionId& id, std::optional<ResultPart> value) { results.emplace_back(id, std::move(value)); }
  /// Files an attempt that is no longer the newest.
  void past_attempt(const ExecutionId& id, Attempt value) { attempts.emplace_back(id, std::move(value)); }
  void lane(Lane value);
  /// None removes it.
  void key(const IdempotencyId& id, std::optional<IdempotencyRecord> value) {
    keys.emplace_back(id, std::move(value));
  }
  void document(Document value) {
    const DocumentId id = value.id;
    documents.emplace_back(id, std::move(value));
  }
  void erase(const DocumentId& id) { documents.emplace_back(id, std::nullopt); }
  void append(EventRecord&& event) {
    if (events.empty()) events.reserve(2);  // the end of a lease and that of its execution
    events.push_back(std::move(event));
  }

  TimeMs now() const { return now_; }
  /// The execution that was saved last, as it will be stored.
  const ExecutionRecord& saved() const { return *executions.back(); }
  /// What is illegal in what was saved; such writes are dropped as a whole.
  const std::string& broken() const { return broken_; }

  std::vector<std::shared_ptr<const ExecutionRecord>> executions;
  std::vector<ExecutionId> erased;
  std::vector<std::pair<ExecutionId, ExecutionInfo>> infos;
  std::vector<std::pair<ExecutionId, PayloadPart>> payloads;
  std::vector<std::pair<ExecutionId, std::optional<ResultPart>>> results;
  std::vector<std::pair<ExecutionId, Attempt>> attempts;
  std::vector<Lane> lanes;
  std::vector<std::pair<IdempotencyId, std::optional<IdempotencyRecord>>> keys;
  std::vector<std::pair<DocumentId, std::optional<Document>>> documents;
  std::vector<EventRecord> events;

 private:
  void check(const ExecutionRecord& record);

  TimeMs now_;
  std::string broken_;
};

/// The working set of a batch, as the store sees it.
class WorkingSet : public Records {
 public:
  void apply(Writes&& writes);

  Table<ExecutionId, ExecutionRecord>& executions() { return executions_; }
  Table<ExecutionId, ExecutionInfo>& infos() { return infos_; }
  Table<ExecutionId, PayloadPart>& payloads() { return payloads_; }
  Table<ExecutionId, ResultPart>& results() { return results_; }
  Table<AttemptKey, Attempt>& attempts() { return attempts_; }
  Table<std::string, Lane>& lanes() { return lanes_; }
  Table<IdempotencyId, IdempotencyRecord>& keys() { return keys_; }
  Table<DocumentId, Document>& documents() { return documents_; }
  std::deque<EventRecord>& events() { return events_; }

  /// A record that is stored but cannot be read: it stays absent, and whoever wants it gets this error.
  void unreadable(const ExecutionId& id, Error error) { unreadable_.insert_or_assign(id, std::move(error)); }
  const Error* why_unreadable(const ExecutionId& id) const {
    auto it = unreadable_.find(id);
    return it == unreadable_.end() ? nullptr : &it->second;
  }

  bool has_changes() const { return changed_; }
  /// Executions that this batch has removed.
  const std::set<ExecutionId>& erased() const { return erased_; }

 private:
  std::deque<EventRecord> events_;
  std::map<ExecutionId, Error> unreadable_;
  std::set<ExecutionId> erased_;
  bool changed_ = false;
};

}  // namespace ff::core
