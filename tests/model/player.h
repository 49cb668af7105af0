#pragma once

#include "model/arguments.h"
#include "model/wording.h"
#include "support/world.h"

namespace ff::test {

/// Plays a run that follows from a seed on one store: call after call through the public API, with time standing still
/// between them. Tells in words what was called and what came back.
///
/// What a run does depends on the seed and on the answers alone: two stores that answer alike are asked alike, and
/// the first line that differs is the first difference between them.
class Player {
 public:
  Player(const StoreUnderTest& store, std::uint64_t seed);

  /// Makes the next call.
  std::string step();
  /// Everything that can be read: records, attempts, histories, lists, counts.
  std::vector<std::string> everything();

 private:
  struct Choice {
    const char* name;
    int weight;
    std::string (Player::*play)();
  };
  static const std::vector<Choice> kChoices;

  // Submitting and time.
  std::string submit();
  std::string submit_again();
  std::string submit_all();
  std::string move_time();
  std::string restart();
  // Working.
  std::string claim();
  std::string claim_named();
  std::string renew();
  std::string renew_all();
  std::string progress();
  std::string complete();
  std::string fail();
  std::string delay();
  std::string wait_children();
  std::string cancel_task();
  // Operating.
  std::string cancel();
  std::string replay();
  std::string change_priority();
  std::string revoke();
  std::string operator_complete();
  std::string operator_fail();
  std::string set_tags();
  std::string remove();
  std::string configure_lane();
  // Reading.
  std::string get();
  std::string payload();
  std::string result();
  std::string tag();
  std::string list();
  std::string attempts();
  std::string history();
  std::string leases();
  std::string lane_counts();

  static OpenOptions options();
  TimeMs now() const { return world_.clock->now_ms() - lag_ms_; }
  ExecutionId some_execution();
  std::string some_handle();
  std::string submitted(const Submission& submission, const Result<Submitted>& answer);
  std::string claimed(Result<std::vector<ClaimedTask>> answer);
  void wait_until_noted(const ClaimRequest& request);
  std::string all_attempts(const ExecutionId& id, std::uint32_t limit);
  std::string all_events(const ExecutionId& id, std::uint32_t limit);
  std::string all_pages(ListExecutions query);
  std::string all_leases(ListLeases query);
  std::string all_lanes();

  World world_;
  TimeMs lag_ms_;
  Random random_;
  Arguments arguments_;
  Names names_;
  std::vector<Submission> submissions_;
  std::vector<ExecutionId> executions_;
  std::vector<std::string> handles_;  ///< all that were ever given, dead ones too
};

}  // namespace ff::test
