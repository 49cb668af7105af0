#pragma once

// Compares every answer of an engine with what really happened: what was acknowledged is there, what was refused is
// not, and each refusal is true.

#include "book.h"
#include "history.h"
#include "trace.h"

namespace ff::sim {

class Judge {
 public:
  Judge(History& history, Book& book, Verdict& verdict) : history_(history), book_(book), verdict_(verdict) {}

  // ---- clients ----
  void submitted(Intent& intent, const Result<Submitted>& reply);
  void cancelled(Intent& intent, const Result<Changed>& reply);
  void replayed(Intent& intent, const Result<Changed>& reply);
  void priority_changed(Intent& intent, const Result<PriorityChanged>& reply);
  void tags_set(Intent& intent, const Result<Changed>& reply);
  void revoked(Intent& intent, const Result<Revoked>& reply);
  void finished_by_operator(Intent& intent, const Result<Changed>& reply);
  void removed(Intent& intent, const Result<Done>& reply);
  void lane_configured(Intent& intent, const Result<Lane>& reply);
  void read(Intent& intent, const Result<Execution>& reply);
  /// A read that only has to succeed, or to miss what is not there.
  template <class T>
  void looked(Intent& intent, const Result<T>& reply) {
    if (!settle(intent, reply)) check_absent(intent, reply.error());
  }

  // ---- workers ----
  void claimed(Intent& intent, const Result<std::vector<ClaimedTask>>& reply);
  void renewed(Intent& intent, const Result<LeaseRenewed>& reply);
  void progressed(Intent& intent, const Result<Done>& reply);
  void completed(Intent& intent, const Result<Changed>& reply);
  void failed(Intent& intent, const Result<TaskFailed>& reply);
  void delayed(Intent& intent, const Result<TaskDelayed>& reply);
  void moved(Intent& intent, const Result<Changed>& reply);
  void cancelled_by_holder(Intent& intent, const Result<Changed>& reply);

 private:
  template <class T>
  bool settle(Intent& intent, const Result<T>& reply) {
    return settle(intent, reply ? nullptr : &reply.error());
  }
  bool settle(Intent& intent, const Error* error);
  void check_absent(const Intent& intent, const Error& error);
  void check_operator_error(const Intent& intent, const Error& error, bool wants_open);
  void check_task(const Intent& intent, const ClaimedTask& task);
  void check_holder_error(const Intent& intent, const Error& error);
  void check_held(const Intent& intent);
  void check_released(const Intent& intent, std::string_view reason);

  template <class... Args>
  void fail(const Intent& intent, fmt::format_string<Args...> format, Args&&... args) {
    verdict_.fail("call #{} ({}{}): {}", intent.call, name_of(intent.act),
                  intent.id ? " " + intent.id->to_string() : std::string(),
                  fmt::format(format, std::forward<Args>(args)...));
  }

  History& history_;
  Book& book_;
  Verdict& verdict_;
};

}  // namespace ff::sim
