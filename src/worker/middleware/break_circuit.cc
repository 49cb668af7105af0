#include "api/middleware/circuit.h"
#include "api/middleware/pace.h"

#include <flowfabric/middleware.h>

#include <map>
#include <mutex>

namespace ff {
namespace {

using api::Circuit;

/// Kinds come from whoever submits: past so many, the rest share a circuit.
constexpr std::size_t kCircuitsMax = 256;

Circuit::Verdict verdict_of(const Outcome& outcome) {
  if (std::holds_alternative<Outcome::Complete>(outcome.value())) return Circuit::Verdict::success;
  const auto* failed = std::get_if<Outcome::Fail>(&outcome.value());
  return failed && failed->failure_class == FailureClass::transient ? Circuit::Verdict::failure
                                                                     : Circuit::Verdict::neither;
}

class Breaker {
 public:
  explicit Breaker(CircuitBreak rule) : rule_(std::move(rule)) {
    rule_.failures = std::max(rule_.failures, 1U);
    rule_.pace = api::with_machine_time(std::move(rule_.pace));
  }

  Outcome run(Task& task, const Next& next) {
    Circuit* circuit = nullptr;
    Circuit::Pass pass = Circuit::Pass::no;
    {
      std::lock_guard guard(mutex_);
      circuit = &of(task.kind());
      pass = circuit->ask(rule_.pace.now());
      if (pass == Circuit::Pass::no) {
        const auto left = circuit->left(rule_.pace.now());
        return delay(left.count() > 0 ? left : rule_.trial_delay);
      }
    }
    try {
      Outcome outcome = next(task);
      ended(*circuit, pass, verdict_of(outcome));
      return outcome;
    } catch (const PayloadError&) {
      ended(*circuit, pass, Circuit::Verdict::neither);
      throw;
    } catch (...) {
      ended(*circuit, pass, Circuit::Verdict::failure);
      throw;
    }
  }

 private:
  /// It stays where it is for as long as this lives.
  Circuit& of(const std::string& kind) {
    const bool is_known = circuits_.contains(kind) || circuits_.size() < kCircuitsMax;
    return circuits_.try_emplace(is_known ? kind : std::string(), rule_.failures, rule_.open_for).first->second;
  }
  void ended(Circuit& circuit, Circuit::Pass pass, Circuit::Verdict verdict) {
    std::lock_guard guard(mutex_);
    circuit.ended(rule_.pace.now(), pass, verdict);
  }

  CircuitBreak rule_;
  std::mutex mutex_;
  std::map<std::string, Circuit> circuits_;
};

}  // namespace

Middleware break_circuit(CircuitBreak rule) {
  auto breaker = std::make_shared<Breaker>(std::move(rule));
  return [breaker](Task& task, const Next& next) { return breaker->run(task, next); };
}

}  // namespace ff
