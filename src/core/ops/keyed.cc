#include "core/ops/keyed.h"

#include "core/hash.h"

#include <charconv>

namespace ff::core {
namespace {

constexpr std::size_t kDigestBytes = 32;
/// Between the name of a call and what it is about; no call has it in its name.
constexpr char kAbout = '@';

}  // namespace

// Without a colon, which stores put behind the name of an operation.
IdempotencyId request_key(const RequestKey& key, std::string_view operation, const ExecutionId& about) {
  return {key.namespace_, fmt::format("{}{}{}.{}", operation, kAbout, about.partition, about.uuid.to_string()), key.key};
}

IdempotencyId request_key(const RequestKey& key, std::string_view operation, std::string_view about) {
  return {key.namespace_, fmt::format("{}{}{:016x}", operation, kAbout, fnv1a64(about)), key.key};
}

std::uint16_t partition_of(const IdempotencyId& id, const Partitioning& partitioning) {
  const std::size_t at = id.operation.find(kAbout);
  if (at == std::string::npos) return keyed_partition(id.namespace_, id.idempotency_key, partitioning);
  const std::size_t dot = id.operation.find('.', at);
  if (dot == std::string::npos) return 0;
  std::uint16_t partition = 0;
  std::from_chars(id.operation.data() + at + 1, id.operation.data() + dot, partition);
  return partition;
}

Bytes outcome_of(const Bytes& digest, std::string_view answer) { return digest + std::string(answer); }

Result<std::string> first_answer(const IdempotencyRecord& record, const RequestKey& key) {
  if (record.outcome.size() < kDigestBytes)
    return std::unexpected(corruption("ff_idempotency", "outcome", fmt::format("{} bytes", record.outcome.size())));
  if (record.outcome.compare(0, kDigestBytes, key.digest) != 0)
    return fail(ErrorCode::idempotency_conflict,
                fmt::format("The key '{}' was used for a call with other content. Repeat that one, or choose another key.",
                            key.key));
  return record.outcome.substr(kDigestBytes);
}

}  // namespace ff::core
