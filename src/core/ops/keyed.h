#pragma once

// Calls that carry an idempotency key: the repeat gets the first answer, and nothing happens twice.

#include "core/lease.h"
#include "core/operation.h"

namespace ff::core {

/// How long a key is remembered.
inline constexpr std::uint64_t kRequestKeyMs = 86'400'000;

/// Where the key of a call stands: with what the call is about, so that both are one commit. The same key for another
/// call, or for the same call about something else, is another key.
IdempotencyId request_key(const RequestKey& key, std::string_view operation, const ExecutionId& about);
IdempotencyId request_key(const RequestKey& key, std::string_view operation, std::string_view about);

/// The partition of a key.
std::uint16_t partition_of(const IdempotencyId& id, const Partitioning& partitioning);

/// What the record of a key holds of the first call: what it said, and its answer.
Bytes outcome_of(const Bytes& digest, std::string_view answer);
/// The first answer; `idempotency_conflict` when the call says something else than the first one did.
Result<std::string> first_answer(const IdempotencyRecord& record, const RequestKey& key);

/// Any operation, under a key.
template <class Op>
struct Keyed {
  using Reply = typename Op::Reply;
  static constexpr std::string_view kName = Op::kName;

  Op op;
  IdempotencyId id;
  std::uint16_t partition = 0;
  std::shared_ptr<RequestKey> key;
};

template <class Op>
void reads(const Keyed<Op>& keyed, const Records& in, Reads& out) {
  out.key(keyed.id);
  reads(keyed.op, in, out);
}

/// A refusal is not remembered: the repeat may succeed.
template <class Op>
Decision<typename Op::Reply> decide(const Keyed<Op>& keyed, const Records& in, TimeMs now) {
  using Reply = typename Op::Reply;
  const IdempotencyRecord* known = in.key(keyed.id);
  keyed.key->repeated = false;
  if (known && known->expires_at_ms > now) {
    auto answer = first_answer(*known, *keyed.key);
    if (!answer) return {std::unexpected(answer.error()), Writes(now)};
    Reply reply;
    JsonReader reader;
    auto parsed = parse_json(*answer);
    if (!parsed || !reader.read(*parsed, reply))
      return {std::unexpected(corruption("ff_idempotency", "outcome", *answer)), Writes(now)};
    keyed.key->repeated = true;
    return {std::move(reply), Writes(now)};
  }
  auto decision = decide(keyed.op, in, now);
  if (decision.reply)
    decision.writes.key(keyed.id, IdempotencyRecord{keyed.id, keyed.partition, std::nullopt,
                                                    outcome_of(keyed.key->digest, to_json_text(*decision.reply)), now,
                                                    add_ms(now, kRequestKeyMs), 0});
  return decision;
}

}  // namespace ff::core
