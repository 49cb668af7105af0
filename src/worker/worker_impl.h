#pragma once

#include "log/log.h"
#include "worker/handler_pool.h"
#include "worker/registration.h"
#include "worker/task_state.h"

#include <flowfabric/worker.h>

#include <map>
#include <set>

namespace ff {

/// The worker's loop: one thread that claims, renews, sends outcomes again when they were lost, and drains.
///
/// Handlers and callbacks of the fabric never act by themselves: they leave a note and wake the loop.
class Worker::Impl : public std::enable_shared_from_this<Worker::Impl> {
 public:
  using TaskPtr = std::shared_ptr<worker::TaskState>;
  using TimePoint = worker::SteadyClock::time_point;

  Impl(Fabric fabric, WorkerOptions options);

  Result<std::uint32_t> run();
  void stop();

  Fabric fabric_;
  WorkerOptions options_;
  std::map<std::string, Handler> handlers_;
  Handler any_;
  std::vector<Middleware> middleware_;  ///< innermost first

 private:
  using WeakTask = std::weak_ptr<worker::TaskState>;

  // What callbacks and handlers leave for the loop. They own neither tasks nor the fabric: the last owner of a fabric
  // should be somebody who can wait for its end, not a thread of the engine.
  struct Claimed {
    std::uint64_t call;
    Result<std::vector<ClaimedTask>> tasks;
  };
  struct Finished {
    WeakTask task;
    Outcome outcome;
  };
  struct Answered {
    WeakTask task;
    Outcome outcome;
    std::optional<Error> error;
  };
  struct Renewed {
    std::uint64_t call;
    std::vector<WeakTask> tasks;
    std::vector<Result<LeaseRenewed>> results;
  };
  struct Registered {
    worker::Registration::Sign sign;
    std::optional<Error> error;
  };
  struct Notes {
    std::vector<Claimed> claimed;
    std::vector<Finished> finished;
    std::vector<Answered> answered;
    std::vector<Renewed> renewed;
    std::vector<Registered> registered;
    int stops = 0;
  };
  class Mailbox {
   public:
    template <class Note>
    void leave(std::vector<Note> Notes::* list, Note note);
    void leave_stop();
    Notes wait(TimePoint until);

   private:
    std::mutex mutex_;
    std::condition_variable wake_;
    Notes notes_;
  };

  std::optional<Error> fault_of_options() const;
  void claim_more();
  void on_claimed(Claimed note);
  void start_task(ClaimedTask task);
  void run_handler(const TaskPtr& task);
  Outcome handle(Task& task) const;
  void build_chain();
  void send(const TaskPtr& task, Outcome outcome);
  void on_answered(Answered note);
  void renew_due();
  void on_renewed(Renewed note);
  void lose_unanswered();
  std::chrono::milliseconds renewal_patience() const { return std::chrono::milliseconds(options_.lease_ttl_ms) * 2 / 3; }
  void send_again_due();
  void drop(const TaskPtr& task);

  // The list of workers, in worker_registry.cc.
  void begin_registration();
  RegisterWorker introduction() const;
  /// Fills in who this worker is, where it works and what it can do.
  template <class Request>
  void name_itself(Request& request) const {
    request.worker_id = *options_.worker_id;
    request.worker_instance_id = *options_.worker_instance_id;
    request.namespace_ = options_.namespace_scope;
    request.lanes = options_.lanes;
    request.capabilities = options_.capabilities;
    if (!any_)
      for (const auto& [kind, handler] : handlers_) request.kinds.push_back(kind);
  }
  void give_sign();
  void on_registered(const Registered& note);
  /// Whether the worker is off the list, or has tried for long enough.
  bool has_left();

  void begin_drain();
  void drain_step();
  void hand_back(const TaskPtr& task);
  TimePoint next_wake() const;
  std::chrono::milliseconds back_off(std::uint32_t tries) const;

  Log log_;
  std::shared_ptr<worker::HandlerPool> pool_;
  Next chain_;  ///< all middleware and the handlers; fixed while it runs

  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();

  // Only the loop touches what follows.
  std::map<std::uint64_t, std::pair<ClaimCall, std::uint32_t>> claims_;  ///< under way, with the slots they may fill
  std::uint64_t next_claim_ = 0;
  std::uint32_t claim_failures_ = 0;
  bool claims_fail_ = false;
  TimePoint claim_not_before_{};
  std::set<TaskPtr> held_;
  std::multimap<TimePoint, std::pair<TaskPtr, Outcome>> send_again_;
  TimePoint next_renewal_{};
  std::optional<std::uint64_t> renewal_under_way_;
  std::uint64_t renewals_ = 0;
  TimePoint renewal_sent_{};
  enum class Phase { working, draining, stopping, handing_back } phase_ = Phase::working;
  TimePoint phase_ends_{};
  std::uint32_t handed_back_ = 0;
  std::set<TaskPtr> going_back_;
  std::optional<Error> fatal_;
  std::optional<worker::Registration> registration_;  ///< unset: it does not register
  Uuid boot_id_;
};

template <class Note>
void Worker::Impl::Mailbox::leave(std::vector<Note> Notes::* list, Note note) {
  {
    std::lock_guard guard(mutex_);
    (notes_.*list).push_back(std::move(note));
  }
  wake_.notify_one();
}

}  // namespace ff
