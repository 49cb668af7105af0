#pragma once

#include "simulation/random.h"

#include <flowfabric/calls.h>

namespace ff::test {

using sim::Random;

/// Draws the arguments of calls. What is drawn depends on the seed and on the time alone, and some of it is wrong.
///
/// Ids, lanes and keys are chosen so that their records lie in partitions whose clock is that of the fabric on every
/// store under test: every fifth.
class Arguments {
 public:
  explicit Arguments(Random& random);

  const std::vector<std::string>& lanes() const { return lanes_; }

  std::string lane() { return random_.chance(0.97) ? random_.pick(lanes_) : std::string("bad\nlane"); }
  std::optional<std::string> namespace_();
  Submission submission(TimeMs now);
  ClaimRequest claim();
  ClaimRequest claim_named(const ExecutionId& id);
  ListExecutions list(TimeMs now);
  ListLeases leases(TimeMs now);
  ConfigureLane lane_settings();
  std::map<std::string, std::optional<std::string>> tag_changes();
  std::optional<Bytes> bytes();
  std::optional<std::string> text();
  TimeMs step_in_time();

 private:
  Policy policy();
  ExecutionId own_id();
  std::string worker() { return random_.pick(std::vector<std::string>{"w1", "w2", "w3"}); }
  std::string kind() { return random_.pick(std::vector<std::string>{"resize", "mail"}); }
  std::vector<std::string> capabilities();

  Random& random_;
  std::vector<std::string> lanes_;
  std::map<std::string, std::vector<std::string>> keys_;  ///< by namespace
};

/// What the payloads of a model run may weigh.
inline constexpr std::uint64_t kModelPayloadMax = 4'096;

}  // namespace ff::test
