#pragma once

#include "core/handle.h"
#include "core/operation.h"

namespace ff::core {

/// Moves the expiry of a live lease. An expired lease can never be revived.
struct Renew {
  using Reply = LeaseRenewed;
  static constexpr std::string_view kName = "renew";

  TaskHandle handle;
  std::optional<std::uint32_t> lease_ttl_ms;
  bool write_event = false;  ///< the setting `renewal_events`
};
void reads(const Renew& op, const Records& in, Reads& out);
Decision<LeaseRenewed> decide(const Renew& op, const Records& in, TimeMs now);

/// Says how far the holder of the lease has come. Sets the given fields only.
struct ReportProgressOp {
  using Reply = Done;
  static constexpr std::string_view kName = "progress";

  TaskHandle handle;
  std::optional<std::uint32_t> progress_pct;
  std::optional<std::string> progress_message;
};
void reads(const ReportProgressOp& op, const Records& in, Reads& out);
Decision<Done> decide(const ReportProgressOp& op, const Records& in, TimeMs now);

}  // namespace ff::core
