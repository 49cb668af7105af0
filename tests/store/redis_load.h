#pragma once

#include "support/world.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace ff::test {

/// An engine on a store by URL, as another process would have one; silent, with short leases.
Opened open_url(const std::string& url, OpenOptions options = {});

/// Callers that submit, claim and complete without pause on several engines, and repeat what is answered with a
/// retryable error. What was acknowledged is written down and held against the store at the end.
class Load {
 public:
  /// `partitions` is how many of them the executions are spread over.
  Load(std::vector<Opened> engines, std::uint16_t partitions);
  ~Load();

  /// How many completions have been acknowledged so far.
  std::size_t completed() const;
  /// Ends the submitting and waits until nothing is left to do; false: a minute has gone by, and stderr says what
  /// callers were told.
  bool finish();
  /// Nothing acknowledged is lost, every execution ended once, no lease was held twice at one epoch, and the store
  /// agrees with itself.
  void expect_all_kept();
  /// Errors that no caller should have seen.
  std::vector<std::string> surprises() const;
  std::size_t submitted() const;
  /// How often a call was answered with a retryable error.
  int retries() const { return retries_; }

 private:
  void submit_loop(const Fabric& fabric, std::uint32_t number);
  void work_loop(const Fabric& fabric, const std::string& worker);
  /// Whether the call is to be repeated.
  bool again(const Error& error, std::string_view call);

  std::vector<Opened> engines_;
  std::uint16_t partitions_;
  std::atomic<bool> submitting_ = true, working_ = true;
  std::atomic<int> retries_ = 0;
  mutable std::mutex mutex_;
  std::vector<ExecutionId> submitted_;
  std::set<ExecutionId> completed_;
  std::vector<std::string> surprises_;
  std::map<std::string, int> retried_;  ///< what callers repeated, and how often
  std::vector<std::thread> submitters_, workers_;
};

}  // namespace ff::test
