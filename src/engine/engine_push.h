#pragma once

// How the engine's calls become queued operations, or reads.

#include "core/ops/keyed.h"
#include "core/validate.h"
#include "engine/engine.h"

namespace ff::engine {

template <class Op>
void Engine::push(Executor& executor, Op op, const Call& call, Callback<typename Op::Reply> callback) {
  auto operation = std::make_unique<core::TypedOperation<Op>>(std::move(op), std::move(callback));
  operation->deliver_inline = call.inline_delivery;
  executor.push(std::move(operation));
}

/// The same under the call's idempotency key, if it has one. `about` is what the call is about: the key stands there.
template <class About, class Op>
void Engine::push_keyed(Executor& executor, const About& about, Op op, const Call& call,
                        Callback<typename Op::Reply> callback) {
  if (!call.caller.key) return push(executor, std::move(op), call, std::move(callback));
  core::IdempotencyId id = core::request_key(*call.caller.key, Op::kName, about);
  const std::uint16_t partition = core::partition_of(id, dataset_.partitioning);
  push(executor, core::Keyed<Op>{std::move(op), std::move(id), partition, call.caller.key}, call, std::move(callback));
}

template <class Op>
void Engine::push_for(const ExecutionId& id, Op op, const Call& call, Callback<typename Op::Reply> callback) {
  if (auto fault = core::check_partition(id, dataset_.partitioning)) return callback(std::unexpected(std::move(*fault)));
  push_keyed(executor_for(id), id, std::move(op), call, std::move(callback));
}

template <class Make, class Reply>
void Engine::push_by_handle(const std::string& handle, const Call& call, Callback<Reply> callback, Make make) {
  auto opened = sealer_->open(handle);
  if (!opened) return callback(std::unexpected(opened.error()));
  const ExecutionId id = opened->execution_id;
  opened->namespace_scope = call.caller.namespace_scope;
  push_keyed(executor_for(id), id, make(std::move(*opened)), call, std::move(callback));
}

template <class Reply, class Read>
void Engine::read(Callback<Reply> callback, Read read) {
  reads_.push([callback = std::move(callback), read = std::move(read)](Result<store::Reader*> reader) mutable {
    if (!reader) return callback(std::unexpected(reader.error()));
    callback(read(**reader));
  });
}

}  // namespace ff::engine
