#pragma once

// An operation as queues and stores see it: it names its reads, decides, and answers its caller.

#include "core/errors.h"
#include "core/working_set.h"

#include <functional>
#include <string_view>

namespace ff::core {

class ClaimOperation;

/// The answer of a decision and what it wants written. An error may carry writes: a late call that finds its lease
/// lost commits that loss.
template <class T>
struct Decision {
  Result<T> reply;
  Writes writes;
};

/// Called once with the outcome.
template <class T>
using Callback = std::move_only_function<void(Result<T>)>;

class Operation {
 public:
  virtual ~Operation() = default;

  virtual std::string_view name() const = 0;
  /// Asks for the records it needs, given those that are there. Asked again until it wants nothing new.
  virtual void reads(const Records& in, Reads& out) const = 0;
  /// Decides on `set` and applies its writes to it. May be called again after a conflict, on fresh records.
  virtual void decide(WorkingSet& set, TimeMs now) = 0;
  /// Takes an error from outside (the store, the queue) as the answer.
  virtual void refuse(Error error) = 0;
  /// Hands the answer to the caller; called once, after the commit.
  virtual void deliver() = 0;
  /// What it answered, for counting: none when it succeeded.
  virtual const Error* error() const = 0;
  /// The claim, if this is one: claims take their candidates from the store instead of reading by key.
  virtual ClaimOperation* claim() { return nullptr; }
  /// Whether `deliver` only wakes a waiting thread and may run on the thread that committed.
  bool deliver_inline = false;
  /// When it was queued, by the clock of whoever did it; for statistics.
  std::int64_t queued_at_us = 0;
};

namespace detail {
// Found by argument-dependent lookup, past the members of the same name below.
template <class Op>
void ask(const Op& op, const Records& in, Reads& out) {
  reads(op, in, out);
}
template <class Op>
auto judge(const Op& op, const Records& in, TimeMs now) {
  return decide(op, in, now);
}
}  // namespace detail

/// An operation made of a plain struct `Op` with `Op::Reply`, `Op::kName`, and the free functions
/// `reads(op, records, reads)` and `decide(op, records, now)` beside it.
template <class Op>
class TypedOperation final : public Operation {
 public:
  using Reply = typename Op::Reply;

  TypedOperation(Op op, Callback<Reply> callback) : op_(std::move(op)), callback_(std::move(callback)) {}

  std::string_view name() const override { return Op::kName; }
  void reads(const Records& in, Reads& out) const override { detail::ask(op_, in, out); }
  void decide(WorkingSet& set, TimeMs now) override {
    Decision<Reply> decision = detail::judge(op_, set, now);
    if (!decision.writes.broken().empty()) {
      reply_ = fail(ErrorCode::invariant_violation,
                    fmt::format("{} would have broken an invariant ({}); nothing was written. Please report this.",
                                Op::kName, decision.writes.broken()));
      return;
    }
    reply_ = std::move(decision.reply);
    set.apply(std::move(decision.writes));
  }
  void refuse(Error error) override { reply_ = std::unexpected(std::move(error)); }
  void deliver() override { callback_(std::move(reply_)); }
  const Error* error() const override { return reply_ ? nullptr : &reply_.error(); }

 private:
  Op op_;
  Callback<Reply> callback_;
  Result<Reply> reply_ = std::unexpected(Error{});  ///< until it is decided
};

}  // namespace ff::core
