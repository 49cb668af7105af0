#pragma once

#include "core/caller.h"
#include "core/operation.h"

namespace ff::core {

/// An operator takes a lease away. The execution waits for another worker; no retry and no lost lease is counted.
struct Revoke {
  using Reply = Revoked;
  static constexpr std::string_view kName = "revoke";

  Caller caller;
  RevokeLease request;
};
void reads(const Revoke& op, const Records& in, Reads& out);
Decision<Revoked> decide(const Revoke& op, const Records& in, TimeMs now);

}  // namespace ff::core
