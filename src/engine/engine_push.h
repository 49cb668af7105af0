#pragma once

// How the engine's calls become queued operations.

#include "core/validate.h"
#include "engine/engine.h"

namespace ff::engine {

template <class Op>
void Engine::push(Executor& executor, Op op, const Call& call, Callback<typename Op::Reply> callback) {
  auto operation = std::make_unique<core::TypedOperation<Op>>(std::move(op), std::move(callback));
  operation->deliver_inline = call.inline_delivery;
  executor.push(std::move(operation));
}

template <class Op>
void Engine::push_for(const ExecutionId& id, Op op, const Call& call, Callback<typename Op::Reply> callback) {
  if (auto fault = core::check_partition(id, dataset_.partitioning)) return callback(std::unexpected(std::move(*fault)));
  push(executor_for(id), std::move(op), call, std::move(callback));
}

template <class Make, class Reply>
void Engine::push_by_handle(const std::string& handle, const Call& call, Callback<Reply> callback, Make make) {
  auto opened = sealer_->open(handle);
  if (!opened) return callback(std::unexpected(opened.error()));
  Executor& executor = executor_for(opened->execution_id);
  push(executor, make(std::move(*opened)), call, std::move(callback));
}

}  // namespace ff::engine
