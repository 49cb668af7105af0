#pragma once

// How records are packed into the values of their keys: a contract with what is stored. Every value that a commit
// compares ends with the mark of the commit that wrote it, so that no two states of a key are ever equal, not even when
// the key was removed in between and its version counts from one again.

#include "core/records/document.h"
#include "core/records/event.h"
#include "core/records/records.h"
#include "store/packed_row.h"
#include "store/redis/events.h"
#include "store/redis/wire.h"

namespace ff::store::redis {

/// Random bytes, drawn for each commit.
inline constexpr std::size_t kMarkBytes = 8;
/// The mark at the end of a value; empty when there is no value.
std::string_view mark_of(std::string_view value);

/// Size and content type of a result, kept with the record: looking at an execution does not read its result.
struct ResultType {
  std::uint64_t bytes = 0;
  std::string content_type;
};

/// Everything that is kept in the value of an execution.
struct StoredExecution {
  core::ExecutionRecord record;
  std::optional<ResultType> result;
  LastEvents last_events;
};

/// Queues that have been read, by their text, so that records of one queue point to one object. One thread at a time.
class QueueCache {
 public:
  Result<core::QueueRef> get(std::string_view text);

 private:
  std::map<std::string, core::QueueRef, std::less<>> known_;
};

std::string pack_queue(const core::Queue& queue);
Result<core::QueueRef> unpack_queue(std::string_view text);

/// The value of an execution. It begins with the number of the entry of its last event; where that is an entry of the
/// same commit (`newest`) it is left out, and the server puts it there.
std::string pack_execution(const core::ExecutionRecord& record, const std::optional<ResultType>& result,
                           const LastEvents& stored, const std::optional<EventEntries::Newest>& newest,
                           std::string_view mark);
/// None when there is no value.
Result<std::optional<StoredExecution>> read_execution(const ExecutionId& id, const Value& value, QueueCache& queues);

/// What is written once: the info and behind it the payload.
std::string pack_data(const core::ExecutionInfo& info, const Bytes* payload);
/// The start of the data, enough for most infos.
inline constexpr int kDataStart = 4'096;
/// Whether a part from the start of the data has the whole info.
bool has_info(std::string_view data);
Result<core::ExecutionInfo> read_info(std::string_view data);
/// None: there is no payload.
std::optional<std::string_view> payload_of(std::string_view data);

std::string pack_result(const core::ResultPart& result);
Result<Blob> read_result(std::string_view value);

std::string pack_lane(const Lane& lane, std::string_view mark);
Result<Lane> read_lane(std::string_view value);

std::string pack_document(const core::Document& document, std::string_view mark);
/// None when there is no value.
Result<std::optional<core::Document>> read_document(const core::DocumentId& id, const Value& value);

std::string pack_key(const core::IdempotencyRecord& record, std::string_view mark);
/// None when there is no value.
Result<std::optional<core::IdempotencyRecord>> read_key(const core::IdempotencyId& id, std::uint16_t partition,
                                                        const Value& value);

}  // namespace ff::store::redis
