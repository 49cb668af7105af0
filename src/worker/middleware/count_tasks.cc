#include "api/middleware/pace.h"

#include <flowfabric/middleware.h>

namespace ff {

Middleware count_tasks(std::shared_ptr<TaskMetrics> metrics, Pace pace) {
  return [metrics = std::move(metrics), pace = api::with_machine_time(std::move(pace))](Task& task, const Next& next) {
    const auto begin = pace.now();
    metrics->began(task.kind());
    try {
      Outcome outcome = next(task);
      metrics->ended(task.kind(), word_for(outcome), api::since(pace, begin));
      return outcome;
    } catch (...) {
      metrics->ended(task.kind(), "threw", api::since(pace, begin));
      throw;
    }
  };
}

}  // namespace ff
