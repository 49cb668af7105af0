#include "core/validate.h"

#include "core/ops/change.h"
#include "core/ops/lanes.h"
#include "core/text.h"

namespace ff::core {
namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Fault check_text(std::string_view field, std::string_view value) {
  if (is_utf8(value)) return std::nullopt;
  return invalid_input(field, "not_utf8", fmt::format("{} is not UTF-8 text. Send bytes as a payload instead.", field));
}

bool is_hex(std::string_view text) {
  for (char c : text)
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  return true;
}

}  // namespace

Fault check_lane(std::string_view lane_id) {
  auto refuse = [&](std::string reason) {
    return invalid_input("lane_id", reason,
                         fmt::format("'{:.80}' is not a lane ({}). A lane has 1 to {} printable ASCII characters.", lane_id,
                                     reason, kLaneBytesMax));
  };
  if (lane_id.empty()) return refuse("empty");
  if (lane_id.size() > kLaneBytesMax) return refuse(fmt::format("too long (got {})", lane_id.size()));
  for (std::size_t i = 0; i < lane_id.size(); ++i)
    if (lane_id[i] < 0x20 || lane_id[i] > 0x7e) return refuse(fmt::format("non-printable byte at index {}", i));
  return std::nullopt;
}

Fault check_name(std::string_view field, std::string_view value) {
  auto refuse = [&](std::string_view reason) {
    return invalid_input(field, reason,
                         fmt::format("{} is not valid ({}). It has 1 to {} bytes, no white space, no control bytes, no "
                                     "braces.",
                                     field, reason, kNameBytesMax));
  };
  if (value.empty()) return refuse("empty");
  if (value.size() > kNameBytesMax) return refuse("too_long");
  for (char c : value)
    if (is_control(static_cast<unsigned char>(c)) || c == ' ' || c == '{' || c == '}') return refuse("bad_character");
  if (!is_utf8(value)) return refuse("not_utf8");
  return std::nullopt;
}

Fault check_kind(std::string_view field, std::string_view value) {
  auto refuse = [&](std::string_view reason) {
    return invalid_input(field, reason,
                         fmt::format("{} is not valid ({}). It has 1 to {} bytes and no control bytes.", field, reason,
                                     kNameBytesMax));
  };
  if (value.empty()) return refuse("empty");
  if (value.size() > kNameBytesMax) return refuse("too_long");
  for (char c : value)
    if (is_control(static_cast<unsigned char>(c))) return refuse("control_byte");
  if (!is_utf8(value)) return refuse("not_utf8");
  return std::nullopt;
}

Fault check_label(std::string_view field, const std::optional<std::string>& value) {
  if (!value) return std::nullopt;
  if (value->size() > kNameBytesMax)
    return invalid_input(field, "too_long",
                         fmt::format("{} has {} bytes; {} are the most.", field, value->size(), kNameBytesMax));
  return check_text(field, *value);
}

Fault check_key(std::string_view key) {
  if (key.size() > kIdempotencyKeyBytesMax)
    return invalid_input("idempotency_key", "too_long",
                         fmt::format("The idempotency key has {} bytes; {} are the most.", key.size(),
                                     kIdempotencyKeyBytesMax));
  return check_text("idempotency_key", key);
}

Fault check_tag_key(std::string_view key) {
  bool good = !key.empty() && key.size() <= kTagKeyBytesMax && is_alnum(key[0]);
  for (char c : key) good = good && (is_alnum(c) || c == '_' || c == '.' || c == '-');
  if (good) return std::nullopt;
  return Error{ErrorCode::invalid_tag_key,
               fmt::format("'{:.140}' is not a tag key. It has 1 to {} letters, digits, '_', '.' or '-' and starts with a "
                           "letter or digit.",
                           key, kTagKeyBytesMax),
               {{"key", std::string(key.substr(0, 140))}}};
}

Fault check_tags(const Tags& tags) {
  if (tags.size() > kTagsMax)
    return invalid_input("tags", "too_many", fmt::format("There are {} tags; {} are the most.", tags.size(), kTagsMax));
  for (const auto& [key, value] : tags) {
    if (auto fault = check_tag_key(key)) return fault;
    if (value.size() > kTagValueBytesMax)
      return invalid_input("tags", "value_too_long",
                           fmt::format("The value of tag '{}' has {} bytes; {} are the most.", key, value.size(),
                                       kTagValueBytesMax));
    if (auto fault = check_text("tags", value)) return fault;
  }
  return std::nullopt;
}

Fault check_partition(const ExecutionId& id, const Partitioning& partitioning) {
  if (id.partition < partitioning.num_flow_partitions) return std::nullopt;
  return invalid_input("execution_id", "partition_out_of_range",
                       fmt::format("Execution id {} names partition {}, but this data set has {}.", id.to_string(),
                                   id.partition, partitioning.num_flow_partitions));
}

Fault check_payload(std::string_view field, const std::optional<Bytes>& bytes, std::uint64_t bytes_max) {
  if (!bytes || bytes->size() <= bytes_max) return std::nullopt;
  return Error{ErrorCode::payload_too_large,
               fmt::format("The {} has {} bytes; {} are the most. Keep large data elsewhere and send a reference.", field,
                           bytes->size(), bytes_max),
               {{"limit_bytes", static_cast<std::int64_t>(bytes_max)}}};
}

Fault check_limit(std::uint32_t limit, std::uint32_t limit_max) {
  if (limit <= limit_max) return std::nullopt;
  return invalid_input("limit", "out_of_range", fmt::format("limit is {}; it may be 0 to {}.", limit, limit_max));
}

Fault check_wait(std::uint32_t wait_ms) {
  if (wait_ms <= kWaitMsMax) return std::nullopt;
  return invalid_input("wait_ms", "out_of_range",
                       fmt::format("wait_ms is {}; it may be 0 to {}.", wait_ms, kWaitMsMax));
}

Fault check_ttl(std::uint32_t lease_ttl_ms) {
  if (lease_ttl_ms >= kLeaseTtlMsMin && lease_ttl_ms <= kLeaseTtlMsMax) return std::nullopt;
  return invalid_input("lease_ttl_ms", "out_of_range",
                       fmt::format("lease_ttl_ms is {}; it may be {} to {}.", lease_ttl_ms, kLeaseTtlMsMin,
                                   kLeaseTtlMsMax));
}

Fault check_liveness_ttl(std::uint64_t liveness_ttl_ms) {
  if (liveness_ttl_ms >= kLivenessTtlMsMin && liveness_ttl_ms <= kLivenessTtlMsMax) return std::nullopt;
  return invalid_input("liveness_ttl_ms", "out_of_range",
                       fmt::format("liveness_ttl_ms is {}; it may be {} to {}.", liveness_ttl_ms, kLivenessTtlMsMin,
                                   kLivenessTtlMsMax));
}

bool is_traceparent(std::string_view text) {
  return text.size() == 55 && text[2] == '-' && text[35] == '-' && text[52] == '-' && is_hex(text.substr(0, 2)) &&
         is_hex(text.substr(3, 32)) && is_hex(text.substr(36, 16)) && is_hex(text.substr(53, 2));
}

Fault check_lane_settings(const ConfigureLane& request) {
  if (auto fault = check_lane(request.lane_id)) return fault;
  if (auto fault = check_label("reason", request.reason)) return fault;
  if (!request.namespace_weights) return std::nullopt;
  if (request.namespace_weights->size() > kNamespaceWeightsMax)
    return invalid_input("namespace_weights", "too_many",
                         fmt::format("There are {} weights; {} are the most.", request.namespace_weights->size(),
                                     kNamespaceWeightsMax));
  for (const auto& [name, weight] : *request.namespace_weights) {
    if (auto fault = check_name("namespace_weights", name)) return fault;
    if (weight < 1 || weight > kNamespaceWeightMax)
      return invalid_input("namespace_weights", "out_of_range",
                           fmt::format("The weight of '{}' is {}; it may be 1 to {}.", name, weight,
                                       kNamespaceWeightMax));
  }
  return std::nullopt;
}

}  // namespace ff::core
