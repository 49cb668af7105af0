#pragma once

#include "api/backend.h"
#include "client/calls.h"
#include "client/own_ids.h"

namespace ff::client {

/// A server, as what stands behind a Fabric.
class RemoteBackend final : public api::Backend, public std::enable_shared_from_this<RemoteBackend> {
 public:
  /// The last owner may let go of it on any thread, that of its own loop included.
  static std::shared_ptr<RemoteBackend> make(Endpoint endpoint, std::shared_ptr<TlsContext> tls, ClientOptions options);

  /// What the server says of itself, once: what ids and bodies have to look like. An error when there is no server of
  /// ours, or it does not let us in.
  Result<void> get_to_know();
  void set_retry_ms(std::uint32_t ms) { calls_.set_retry_ms(ms); }
  /// For submissions that name none.
  void set_namespace(std::string name) { namespace_ = std::move(name); }

  void start(std::vector<Submission> requests, bool waits,
             std::function<void(std::size_t, Result<Submitted>)> done) override;
  void start(std::vector<RenewLease> requests, bool waits,
             std::function<void(std::size_t, Result<LeaseRenewed>)> done) override;
  ClaimCall claim(ClaimRequest request, bool waits, Callback<std::vector<ClaimedTask>> done) override;

#define FF_REMOTE(Request, Reply) void start(Request request, bool waits, Callback<Reply> done) override;
  FF_CALLS(FF_REMOTE)
#undef FF_REMOTE

  void close() override;

 private:
  RemoteBackend(Endpoint endpoint, std::shared_ptr<TlsContext> tls, ClientOptions options)
      : calls_(std::move(endpoint), std::move(tls), std::move(options)) {}

  /// A submission with an id or a key, so that it can be repeated; true when that is ours.
  bool make_repeatable(Submission& submission);
  CallPtr submission_call(Submission submission, Callback<Submitted> done);

  std::optional<core::Partitioning> partitioning_;  ///< unknown to those who may not read
  std::optional<std::string> namespace_;
  OwnIds ids_;
  Calls calls_;
};

}  // namespace ff::client
