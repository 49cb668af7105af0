#include "client/remote.h"

#include "api/end_elsewhere.h"
#include "client/check_texts.h"
#include "client/target_out.h"
#include "core/describe_calls.h"
#include "core/validate.h"
#include "version.h"

#include <semaphore>

namespace ff::client {
namespace {

/// The call for a request, whose answer goes to `done`.
template <class Reply, class Request>
CallPtr make_call(const Request& request, const std::string& key, Callback<Reply> done) {
  auto call = std::make_shared<Call>();
  call->wire = wire_call(request, key);
  call->raw = std::is_same_v<Reply, std::optional<Blob>>;
  call->take = [done = std::move(done)](Result<WireAnswer> answer) mutable {
    if (!answer) return done(std::unexpected(std::move(answer.error())));
    done(read_reply(*answer, As<Reply>()));
  };
  return call;
}

/// A read that waits for something to happen.
template <class Request>
void let_wait(Call& call, const Request& request) {
  if (request.wait_ms == 0) return;
  call.with_wait = [request](std::uint32_t wait_ms) {
    Request other = request;
    other.wait_ms = wait_ms;
    return wire_call(other, "");
  };
}

/// What would not make a path is refused here, in the words of the engine.
template <class Request>
core::Fault check_path(const Request& request) {
  if constexpr (requires { request.lane_id; })
    return core::check_lane(request.lane_id);
  else if constexpr (std::is_same_v<Request, MarkWorkerDead>)
    return core::check_name("worker_instance_id", request.worker_instance_id);
  else
    return std::nullopt;
}

/// A payload that is too large for a body of JSON goes by itself, and the rest beside it.
WireCall raw_submission(Submission& submission) {
  TargetOut target("/v1/executions");
  target.segment(submission.execution_id->to_string());
  core::for_each_field(submission, [&](std::string_view name, const auto& member) {
    using M = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_same_v<M, Tags>) {
      for (const auto& [key, value] : member) target.add("tag." + key, std::string_view(value));
    } else if constexpr (std::is_same_v<M, std::optional<Policy>>) {
      if (member) target.add(name, std::string_view(core::to_json_text(*member)));
    } else {
      if (name != "execution_id" && name != "content_type") target.add(name, member);
    }
  });
  WireCall call{.method = "PUT", .target = target.take()};
  call.body = std::move(*submission.payload);
  call.content_type = submission.content_type.value_or("application/json");
  return call;
}

}  // namespace

std::shared_ptr<RemoteBackend> RemoteBackend::make(Endpoint endpoint, std::shared_ptr<TlsContext> tls,
                                                   ClientOptions options) {
  api::expect_endings();
  auto destroy = [](RemoteBackend* backend) {
    if (backend->calls_.is_on_loop_thread())
      api::end_elsewhere([backend] { delete backend; });
    else
      delete backend;
  };
  return {new RemoteBackend(std::move(endpoint), std::move(tls), std::move(options)), destroy};
}

void RemoteBackend::close() {
  if (calls_.is_on_loop_thread())
    api::end_elsewhere([self = shared_from_this()] { self->calls_.close(); });
  else
    calls_.close();
}

// ---- submitting ---------------------------------------------------------------------------------------------------

bool RemoteBackend::make_repeatable(Submission& submission) {
  if (namespace_ && !submission.namespace_) submission.namespace_ = namespace_;
  if (submission.execution_id || submission.idempotency_key) return false;
  const Uuid id = ids_.next();
  if (partitioning_)
    submission.execution_id = ExecutionId{core::solo_partition(submission.lane_id, id, *partitioning_), id};
  else
    submission.idempotency_key = id.to_string();
  return true;
}

CallPtr RemoteBackend::submission_call(Submission submission, Callback<Submitted> done) {
  const bool is_ours = make_repeatable(submission);
  auto call = make_call<Submitted>(submission, "", [is_ours, done = std::move(done)](Result<Submitted> submitted) mutable {
    // An id that nobody else knows is a duplicate only of its own first try.
    if (submitted && is_ours) submitted->duplicate = false;
    done(std::move(submitted));
  });
  const bool is_too_large = call->wire.body.size() > calls_.body_bytes_max();
  if (is_too_large && submission.payload && submission.execution_id && !submission.idempotency_key)
    call->wire = raw_submission(submission);
  return call;
}

void RemoteBackend::start(Submission request, bool, Callback<Submitted> done) {
  if (auto fault = check_texts(request)) return done(std::unexpected(std::move(*fault)));
  calls_.start(submission_call(std::move(request), std::move(done)));
}

void RemoteBackend::start(std::vector<Submission> requests, bool, std::function<void(std::size_t, Result<Submitted>)> done) {
  std::vector<CallPtr> calls;
  calls.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto fault = check_texts(requests[i]))
      done(i, std::unexpected(std::move(*fault)));
    else
      calls.push_back(submission_call(std::move(requests[i]),
                                      [done, i](Result<Submitted> submitted) { done(i, std::move(submitted)); }));
  }
  calls_.start(std::move(calls));
}

// ---- working ------------------------------------------------------------------------------------------------------

void RemoteBackend::start(std::vector<RenewLease> requests, bool,
                          std::function<void(std::size_t, Result<LeaseRenewed>)> done) {
  std::vector<CallPtr> calls;
  calls.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    calls.push_back(make_call<LeaseRenewed>(
        requests[i], "", [done, i](Result<LeaseRenewed> renewed) { done(i, std::move(renewed)); }));
  calls_.start(std::move(calls));
}

ClaimCall RemoteBackend::claim(ClaimRequest request, bool, Callback<std::vector<ClaimedTask>> done) {
  auto call = std::make_shared<Call>();
  call->wire = wire_call(request, "");
  call->hands_out = true;
  let_wait(*call, request);
  call->take = [done = std::move(done)](Result<WireAnswer> answer) mutable {
    if (!answer) return done(std::unexpected(std::move(answer.error())));
    if (answer->status == 0) return done(std::vector<ClaimedTask>());
    done(read_reply(*answer, As<std::vector<ClaimedTask>>()));
  };
  calls_.start(call);
  // The caller may keep it longer than the client.
  return ClaimCall([backend = weak_from_this(), waiting = std::weak_ptr(call)] {
    auto alive = backend.lock();
    auto still = waiting.lock();
    if (alive && still) alive->calls_.cancel(still);
  });
}

// ---- everything else ----------------------------------------------------------------------------------------------

void RemoteBackend::start(GetExecution request, bool, Callback<Execution> done) {
  auto call = make_call<Execution>(request, "", std::move(done));
  let_wait(*call, request);
  calls_.start(std::move(call));
}

void RemoteBackend::start(ReadHistory request, bool, Callback<Page<Event>> done) {
  auto call = make_call<Page<Event>>(request, "", std::move(done));
  let_wait(*call, request);
  calls_.start(std::move(call));
}

namespace {

/// In process a page of leases may be longer than over HTTP: it is put together of several.
struct LeasePages : std::enable_shared_from_this<LeasePages> {
  LeasePages(api::Backend& backend, ListLeases query, Callback<Page<LeaseItem>> callback)
      : server(backend), whole(std::move(query)), done(std::move(callback)) {}

  void next() {
    ListLeases part = whole;
    part.limit = std::min<std::uint32_t>(core::kPageMax, whole.limit - static_cast<std::uint32_t>(sum.items.size()));
    server.start(std::move(part), false, [self = shared_from_this()](Result<Page<LeaseItem>> page) {
      self->take(std::move(page));
    });
  }
  void take(Result<Page<LeaseItem>> page) {
    if (!page) return done(std::unexpected(std::move(page.error())));
    sum.items.insert(sum.items.end(), page->items.begin(), page->items.end());
    sum.next_cursor = std::move(page->next_cursor);
    if (!sum.next_cursor || sum.items.size() >= whole.limit) return done(std::move(sum));
    whole.cursor = *sum.next_cursor;
    next();
  }

  api::Backend& server;  ///< outlives every call that it answers
  ListLeases whole;
  Page<LeaseItem> sum;
  Callback<Page<LeaseItem>> done;
};

}  // namespace

void RemoteBackend::start(ListLeases request, bool, Callback<Page<LeaseItem>> done) {
  if (request.limit > core::kPageMax && request.limit <= core::kLeasePageMax)
    return std::make_shared<LeasePages>(*this, std::move(request), std::move(done))->next();
  calls_.start(make_call<Page<LeaseItem>>(request, "", std::move(done)));
}

#define FF_PLAIN_CALLS(X)                                                                                         \
  FF_FINAL_CALLS(X)                                                                                               \
  X(CancelExecution, Changed) X(ReplayExecution, Changed) X(ChangePriority, PriorityChanged) X(RevokeLease, Revoked) \
  X(OperatorComplete, Changed) X(OperatorFail, Changed) X(SetTags, Changed) X(RemoveExecution, Done)              \
  X(ConfigureLane, Lane) X(ReportProgress, Done) X(CancelTask, Changed) X(GetPayload, std::optional<Blob>)        \
  X(GetResult, std::optional<Blob>) X(ListExecutions, Page<ExecutionSummary>) X(ListAttempts, Page<Attempt>)      \
  X(ListLanes, Page<LaneStatus>) X(GetLaneCounts, LaneCounts)                                                     \
  X(RegisterWorker, WorkerRegistered) X(HeartbeatWorker, WorkerAlive) X(DeregisterWorker, Done)                   \
  X(MarkWorkerDead, WorkerMarkedDead)                                                                              \
  X(ListWorkers, Page<WorkerInfo>) X(ListAudit, Page<Event>) X(GetInfo, FabricInfo)
#define FF_PLAIN(Request, Reply)                                                          \
  void RemoteBackend::start(Request request, bool, Callback<Reply> done) {                \
    if (auto fault = check_path(request)) return done(std::unexpected(std::move(*fault))); \
    if (auto fault = check_texts(request)) return done(std::unexpected(std::move(*fault))); \
    std::string key;                                                                      \
    if constexpr (needs_key<Request>) key = ids_.next().to_string();                      \
    calls_.start(make_call<Reply>(request, key, std::move(done)));                        \
  }
FF_PLAIN_CALLS(FF_PLAIN)
#undef FF_PLAIN

// ---- the server itself --------------------------------------------------------------------------------------------

Result<void> RemoteBackend::get_to_know() {
  std::binary_semaphore done(0);
  Result<FabricInfo> info;
  std::size_t body_bytes_max = 0;
  bool is_ours = true;
  auto call = std::make_shared<Call>();
  call->wire = wire_call(GetInfo{}, "");
  call->take = [&](Result<WireAnswer> answer) {
    if (!answer) {
      info = std::unexpected(std::move(answer.error()));
    } else {
      is_ours = answer->body && answer->body->is_object() && answer->body->get_object().contains("data_set_id");
      if (is_ours) {
        info = read_reply(*answer, As<FabricInfo>());
        const auto* limits = answer->body->get_object().if_contains("limits");
        const auto* bytes = limits && limits->is_object() ? limits->get_object().if_contains("body_max_bytes") : nullptr;
        if (bytes && bytes->is_int64()) body_bytes_max = static_cast<std::size_t>(bytes->get_int64());
      }
    }
    done.release();
  };
  calls_.start(call);
  done.acquire();
  if (!is_ours) return std::unexpected(foreign_answer(200, "", calls_.server()));
  if (!info && info.error().code == ErrorCode::forbidden) return {};  // let in, but not to read
  if (!info) return std::unexpected(info.error());
  if (info->version.substr(0, info->version.find('.')) != std::string_view(kVersion).substr(0, std::string_view(kVersion).find('.')))
    return core::fail(ErrorCode::store_refused,
                      fmt::format("{} has version {:.40}, this program has {}. Use the same major version on both sides.",
                                  calls_.server(), info->version, kVersion),
                      {{"reason", std::string("version_unsupported")}});
  core::Partitioning partitioning;
  partitioning.num_flow_partitions = static_cast<std::uint16_t>(info->flow_partitions);
  partitioning.lane_spread = static_cast<std::uint16_t>(info->lane_spread);
  partitioning_ = partitioning;
  if (body_bytes_max > 0) calls_.set_body_bytes_max(body_bytes_max);
  return {};
}

}  // namespace ff::client
