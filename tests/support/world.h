#pragma once

#include "support/matchers.h"
#include "support/store_under_test.h"

#include <chrono>
#include <list>

namespace ff::test {

/// Looks until it is so, or a minute has gone by.
bool eventually(const std::function<bool()>& predicate);

enum class Time { by_hand, by_machine };

/// A data set with its clock and a fabric on it, and short words for what tests do with them.
///
/// Time stands still until `advance` moves it; when that returns, the sweeps have done what became due. Executions get
/// ids of their own, so that what a test does is the same on every store and at every run.
class World {
 public:
  explicit World(const StoreUnderTest& store, OpenOptions options = {}, Time time = Time::by_hand);
  ~World();
  World(const World&) = delete;

  Fabric fabric;
  std::shared_ptr<ManualClock> clock;  ///< null with Time::by_machine

  engine::Engine& engine() { return *opened_.front().engine; }
  DataSet& data_set() { return *data_set_; }

  // ---- processes ----
  /// A new, empty data set.
  void start_over(OpenOptions options = {}, const Wrap& wrap = {});
  /// Closes every fabric and opens the data set again, as a restart would.
  void restart(OpenOptions options = {}, const Wrap& wrap = {});
  /// Another process on the same data set.
  Opened open_another(OpenOptions options = {}, const Wrap& wrap = {});
  /// Opens the data set and closes it at once: may it be opened so?
  Result<void> try_open(OpenOptions options = {});

  // ---- time ----
  /// The time of the fabric.
  TimeMs now() const;
  void advance(TimeMs ms);
  /// Returns when every sweep of every fabric has made a whole run.
  void settle();
  SweepInfo sweep(const std::string& name) const { return sweep(fabric, name); }
  static SweepInfo sweep(const Fabric& of, const std::string& name);

  // ---- executions ----
  /// The next id; ids rise. `spread` chooses among the partitions that keep time.
  ExecutionId next_id(std::uint16_t spread = 0);
  /// A submission of kind `job` to lane `default` with an id of its own.
  Submission job();
  Submission job(const std::string& policy_json);
  ExecutionId submit(Submission submission);
  ExecutionId submit() { return submit(job()); }
  ExecutionId submit(const std::string& policy_json) { return submit(job(policy_json)); }

  static ClaimRequest request(const std::string& worker = "w1", std::uint32_t max = 1);
  std::vector<ClaimedTask> claim(std::uint32_t max, const std::string& worker = "w1") {
    return must(fabric.claim(request(worker, max)));
  }
  /// The one task that is there.
  ClaimedTask claim(const std::string& worker = "w1");
  Result<std::vector<ClaimedTask>> claim_named(const ExecutionId& id, const std::string& worker = "w1");

  Result<Changed> complete(const ClaimedTask& task) { return fabric.complete({.handle = task.handle}); }
  Result<TaskFailed> fail(const ClaimedTask& task, const std::string& message = "broken",
                          FailureClass failure_class = FailureClass::transient) {
    return fabric.fail({.handle = task.handle, .message = message, .failure_class = failure_class});
  }
  Result<LeaseRenewed> renew(const ClaimedTask& task) { return fabric.renew({.handle = task.handle}); }

  Execution get(const ExecutionId& id) { return must(fabric.get(id)); }
  PublicState state_of(const ExecutionId& id) { return get(id).state.public_state; }
  std::string vector_of(const ExecutionId& id) { return test::vector_of(get(id).state); }
  std::vector<Attempt> attempts(const ExecutionId& id);
  std::vector<std::string> attempt_lines(const ExecutionId& id) { return lines_of(attempts(id)); }
  std::vector<Event> history(const ExecutionId& id);
  std::vector<std::string> events(const ExecutionId& id) { return lines_of(history(id)); }
  /// How many of its lines begin so.
  std::size_t count_events(const ExecutionId& id, std::string_view prefix);
  std::vector<ExecutionSummary> list_all(ExecutionFilter filter = {});

  // ---- ready-made situations ----
  /// An execution whose worker `w1` holds a lease of 30 s.
  ClaimedTask running(const std::string& policy_json = "{}");
  /// One whose lease ran out, noticed by the sweep.
  ClaimedTask lost(const std::string& policy_json = "{}");

  /// What the store finds wrong with itself.
  std::vector<std::string> faults();

 private:
  void open(OpenOptions options, const Wrap& wrap);
  void close_all();

  StoreUnderTest store_;
  std::unique_ptr<DataSet> data_set_;
  std::list<Opened> opened_;
  std::uint32_t ids_ = 0;
};

}  // namespace ff::test
