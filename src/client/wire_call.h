#pragma once

// Calls as they go over the wire: which route, and what is said there.

#include "api/backend.h"

namespace ff::client {

/// Routes that take many items in one request, and calls of which gather while others are under way.
enum class BatchRoute : std::uint8_t {
  none,  ///< a request of its own
  create,
  complete,
  fail,
  renew,
  progress,
  delay,
  wait_children,
  cancel_task,
  cancel,
  replay,
  priority,
  remove,
};
inline constexpr std::size_t kBatchRoutes = 13;

std::string_view path_of(BatchRoute route);
/// Whether it takes a single item as it is, without the list around it.
bool takes_single(BatchRoute route);

struct WireCall {
  BatchRoute route = BatchRoute::none;
  std::string_view method = "POST";
  std::string target;  ///< of a request of its own
  std::string body;    ///< of a request of its own, or the item
  std::string content_type = "application/json";
  std::string key;     ///< `Idempotency-Key` of a request of its own
  std::uint32_t wait_ms = 0;
};

/// `key` makes a call repeatable that is not by itself: the server answers the repeat with the first answer.
#define FF_WIRE_CALL(Request, Reply) WireCall wire_call(const Request& request, const std::string& key);
FF_CALLS(FF_WIRE_CALL)
#undef FF_WIRE_CALL
WireCall wire_call(const RenewLease& request, const std::string& key);
WireCall wire_call(const ClaimRequest& request, const std::string& key);

/// Whether a call needs a key to be repeatable.
template <class Request>
inline constexpr bool needs_key = false;
template <>
inline constexpr bool needs_key<CancelExecution> = true;
template <>
inline constexpr bool needs_key<ReplayExecution> = true;
template <>
inline constexpr bool needs_key<ChangePriority> = true;
template <>
inline constexpr bool needs_key<RevokeLease> = true;
template <>
inline constexpr bool needs_key<OperatorComplete> = true;
template <>
inline constexpr bool needs_key<OperatorFail> = true;
template <>
inline constexpr bool needs_key<MarkWorkerDead> = true;

}  // namespace ff::client
