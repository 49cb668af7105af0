// How a worker keeps its place on the list of workers.

#include "core/ids.h"
#include "version.h"
#include "worker/worker_impl.h"

#include <random>

namespace ff {
namespace {

using worker::Registration;
using worker::SteadyClock;

/// A farewell that is not answered by then is not waited for: the list misses the worker by itself.
constexpr std::chrono::milliseconds kFarewellMax(2'000);

Uuid new_boot_id() {
  std::random_device random;
  auto draw = [&] { return (std::uint64_t{random()} << 32) | random(); };
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return core::make_uuid7(std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), draw(), draw());
}

}  // namespace

RegisterWorker Worker::Impl::introduction() const {
  RegisterWorker request;
  name_itself(request);
  request.liveness_ttl_ms = *options_.liveness_ttl_ms;
  request.boot_id = boot_id_;
  request.max_concurrent_tasks = options_.concurrency;
  request.client_version = kVersion;
  return request;
}

void Worker::Impl::begin_registration() {
  if (!options_.registers) return;
  boot_id_ = new_boot_id();
  registration_.emplace(*options_.liveness_ttl_ms, std::chrono::milliseconds(options_.backoff_first_ms),
                        std::chrono::milliseconds(options_.backoff_max_ms), std::random_device{}());
}

void Worker::Impl::give_sign() {
  if (!registration_) return;
  const Registration::Sign sign = registration_->due(SteadyClock::now());
  auto answered = [mailbox = mailbox_, sign](const auto& result) {
    mailbox->leave(&Notes::registered, Registered{sign, result ? std::nullopt : std::optional(result.error())});
  };
  const std::string& instance = *options_.worker_instance_id;
  switch (sign) {
    case Registration::Sign::none: return;
    case Registration::Sign::enter: return fabric_.register_worker(introduction(), answered);
    case Registration::Sign::alive: return fabric_.heartbeat({instance, options_.namespace_scope}, answered);
    case Registration::Sign::leave: return fabric_.deregister_worker({instance, options_.namespace_scope}, answered);
  }
}

void Worker::Impl::on_registered(const Registered& note) {
  switch (registration_->answered(SteadyClock::now(), note.sign, note.error)) {
    case Registration::News::none: return;
    case Registration::News::trouble:
      return log_.warn("the list of workers does not take this one; it works all the same and tries again",
                       {{"worker_instance_id", *options_.worker_instance_id}, {"error", note.error->to_string()}});
    case Registration::News::well_again:
      return log_.info("this worker is on the list of workers again",
                       {{"worker_instance_id", *options_.worker_instance_id}});
  }
}

bool Worker::Impl::has_left() {
  if (!registration_) return true;
  const auto now = SteadyClock::now();
  registration_->leave(now, kFarewellMax);
  return registration_->has_left(now);
}

}  // namespace ff
