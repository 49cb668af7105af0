#pragma once

// What everybody outside has asked for, and what they were told. Each call has a number, which travels in whatever text
// the call may carry (`#17` as result, message, reason, tag, identity, worker id): every effect in the data can be
// traced to the call that caused it.

#include "sim_options.h"

#include <flowfabric/calls.h>

namespace ff::sim {

/// The lease that a handle stands for, as its holder knows it.
struct LeaseRef {
  ExecutionId id;
  Uuid attempt_id;
  std::uint64_t epoch = 0;
};

/// What one call wants, and how it ended.
struct Intent {
  std::uint64_t call = 0;
  Act act = Act::read;
  std::optional<ExecutionId> id;
  std::optional<LeaseRef> lease;  ///< for calls by handle
  std::uint64_t started_step = 0;
  enum class Outcome : std::uint8_t {
    open,
    done,
    refused,  ///< it must never have an effect
    unknown,  ///< the store was lost on the way: anything may have happened
  } outcome = Outcome::open;
  int effects = 0;  ///< how often the data shows it

  std::optional<Submission> submission;
  std::optional<ClaimRequest> claim;
};

class Book {
 public:
  Intent& open(Act act, std::uint64_t step) {
    Intent& intent = intents_.emplace_back();
    intent.call = intents_.size();
    intent.act = act;
    intent.started_step = step;
    return intent;
  }
  Intent* find(std::uint64_t call) { return call >= 1 && call <= intents_.size() ? &intents_[call - 1] : nullptr; }
  std::size_t size() const { return intents_.size(); }

  static std::string tag(std::uint64_t call) { return fmt::format("#{}", call); }
  /// The number after the first `#` of a text.
  static std::optional<std::uint64_t> call_in(std::string_view text) {
    const auto at = text.find('#');
    if (at == std::string_view::npos) return std::nullopt;
    std::uint64_t call = 0;
    std::size_t i = at + 1;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      call = call * 10 + static_cast<std::uint64_t>(text[i] - '0');
    return i == at + 1 ? std::nullopt : std::optional(call);
  }

 private:
  std::deque<Intent> intents_;
};

}  // namespace ff::sim
