#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ff::core {

/// What all executions of one queue share. Queues are made once and pointed to by the records of their members,
/// so that loading a record copies no text.
struct Queue {
  std::string lane_id;
  std::string namespace_;
  std::string execution_kind;
  std::vector<std::string> required_capabilities;  ///< byte-sorted, without repeats
  std::string queue_class;                         ///< 16 hex digits: kind and required set

  bool operator==(const Queue&) const = default;
};
using QueueRef = std::shared_ptr<const Queue>;

/// The class of a kind and a normalised set: `fnv1a64(kind "\n" comma-joined set)` as 16 hex digits.
std::string queue_class(std::string_view execution_kind, const std::vector<std::string>& required_capabilities);

QueueRef make_queue(std::string lane_id, std::string namespace_, std::string execution_kind,
                    std::vector<std::string> required_capabilities);

}  // namespace ff::core
