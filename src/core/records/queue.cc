#include "core/records/queue.h"

#include "core/hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ff::core {

std::string queue_class(std::string_view execution_kind, const std::vector<std::string>& required_capabilities) {
  return fmt::format("{:016x}",
                     fnv1a64(fmt::format("{}\n{}", execution_kind, fmt::join(required_capabilities, ","))));
}

QueueRef make_queue(std::string lane_id, std::string namespace_, std::string execution_kind,
                    std::vector<std::string> required_capabilities) {
  auto queue = std::make_shared<Queue>();
  queue->queue_class = queue_class(execution_kind, required_capabilities);
  queue->lane_id = std::move(lane_id);
  queue->namespace_ = std::move(namespace_);
  queue->execution_kind = std::move(execution_kind);
  queue->required_capabilities = std::move(required_capabilities);
  return queue;
}

}  // namespace ff::core
