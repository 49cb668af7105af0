#include "engine/cursors.h"

#include "core/errors.h"
#include "core/ids.h"
#include "core/ops/change.h"
#include "engine/handles.h"

#include <cstring>

namespace ff::engine {
namespace {

// The first byte says what kind of cursor it is, so that one of another list is noticed.
constexpr char kList = 'e', kPriorityList = 'p', kNumber = 'n', kText = 't', kLease = 'l';

void put_number(std::string& out, std::int64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift));
}

std::int64_t get_number(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = (value << 8) | static_cast<std::uint8_t>(bytes[i]);
  return static_cast<std::int64_t>(value);
}

Error bad_cursor() {
  return {ErrorCode::invalid_offset,
          "This is not a cursor of this list. Use next_cursor as the page before returned it, or none to start over.",
          {{"field", std::string("cursor")}}};
}

Result<std::string> decode(std::string_view text, char kind) {
  auto bytes = from_base64url(text);
  if (!bytes || bytes->empty() || bytes->front() != kind) return std::unexpected(bad_cursor());
  return bytes->substr(1);
}

constexpr std::size_t kPositionBytes = 32;

void put_position(std::string& out, const store::ListPosition& position) {
  put_number(out, position.created_at_ms);
  put_number(out, position.id.partition);
  out.append(core::raw_bytes(position.id.uuid));
}

/// `bytes` has `kPositionBytes`.
Result<store::ListPosition> get_position(std::string_view bytes) {
  store::ListPosition position;
  position.created_at_ms = get_number(bytes);
  const std::int64_t partition = get_number(bytes.substr(8));
  if (partition < 0 || partition > 0xffff) return std::unexpected(bad_cursor());
  position.id.partition = static_cast<std::uint16_t>(partition);
  std::memcpy(position.id.uuid.bytes.data(), bytes.data() + 16, 16);
  return position;
}

}  // namespace

std::string list_cursor(const store::ListPosition& position) {
  std::string bytes(1, kList);
  put_position(bytes, position);
  return base64url(bytes);
}

Result<store::ListPosition> parse_list_cursor(std::string_view text) {
  auto bytes = decode(text, kList);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() != kPositionBytes) return std::unexpected(bad_cursor());
  return get_position(*bytes);
}

std::string priority_cursor(const store::ListPosition& position) {
  std::string bytes(1, kPriorityList);
  put_number(bytes, position.priority);
  put_position(bytes, position);
  return base64url(bytes);
}

Result<store::ListPosition> parse_priority_cursor(std::string_view text) {
  auto bytes = decode(text, kPriorityList);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() != 8 + kPositionBytes) return std::unexpected(bad_cursor());
  const std::int64_t priority = get_number(*bytes);
  if (priority < 0 || priority > core::kPriorityMax) return std::unexpected(bad_cursor());
  auto position = get_position(std::string_view(*bytes).substr(8));
  if (position) position->priority = static_cast<std::int32_t>(priority);
  return position;
}

std::string number_cursor(std::int64_t number) {
  std::string bytes(1, kNumber);
  put_number(bytes, number);
  return base64url(bytes);
}

Result<std::int64_t> parse_number_cursor(std::string_view text) {
  auto bytes = decode(text, kNumber);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() != 8) return std::unexpected(bad_cursor());
  return get_number(*bytes);
}

std::string text_cursor(std::string_view text) { return base64url(std::string(1, kText).append(text)); }

Result<std::string> parse_text_cursor(std::string_view text) { return decode(text, kText); }

std::string lease_cursor(TimeMs expires_at_ms, const std::string& id) {
  std::string bytes(1, kLease);
  put_number(bytes, expires_at_ms);
  return base64url(bytes.append(id));
}

Result<std::pair<TimeMs, std::string>> parse_lease_cursor(std::string_view text) {
  auto bytes = decode(text, kLease);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() < 8) return std::unexpected(bad_cursor());
  return std::pair(get_number(*bytes), bytes->substr(8));
}

}  // namespace ff::engine
