#pragma once

#include "core/handle.h"
#include "core/operation.h"

namespace ff::core {

/// Ends the attempt with success and makes the execution terminal.
///
/// Accepted only from the holder of the live lease. The same call repeated by the same holder gets the first answer
/// again, and the first result stays, so that a worker may retry after a lost reply; after any other end it gets
/// `execution_not_active` with that outcome.
struct Complete {
  using Reply = Changed;
  static constexpr std::string_view kName = "complete";

  TaskHandle handle;
  SharedBytes result;  ///< null: none; empty bytes are a result
  std::string content_type;
};
void reads(const Complete& op, const Records& in, Reads& out);
Decision<Changed> decide(const Complete& op, const Records& in, TimeMs now);

}  // namespace ff::core
