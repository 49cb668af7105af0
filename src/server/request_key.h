#pragma once

// Idempotency keys: every POST may carry one, in a header or beside its fields.

#include "core/caller.h"
#include "server/route.h"

namespace ff::server {

/// The key of a call, taken out of its input; none when it has none, or when its route has a field for it. The header
/// counts for a single call, the field `idempotency_key` for each of many. `invalid_input` for what cannot be a key, and
/// for two that differ.
Result<std::optional<std::string>> take_key(const Route& route, Input& input, const Headers& headers);

/// What a call says, whatever form it came in: the same in a batch and alone, with its id in the path or in the body.
Bytes digest_of(const Input& input);

/// The same context for a call that is made under a key.
Ctx under_key(const Ctx& context, std::shared_ptr<core::RequestKey> key);

/// Carries out one call, under its key if it has one.
void run_call(const Route& route, const Ctx& context, Input input, const Headers& headers, Answer answer);

}  // namespace ff::server
