#include "model/wording.h"

#include <cctype>

namespace ff::test {

std::string Names::apply(std::string_view text) {
  constexpr std::size_t kUuidChars = 36;
  std::string named;
  while (!text.empty()) {
    const bool begins_uuid = std::isxdigit(static_cast<unsigned char>(text.front())) && text.size() >= kUuidChars &&
                             text[8] == '-' && Uuid::parse(text.substr(0, kUuidChars));
    if (begins_uuid) {
      const auto it = names_.try_emplace(std::string(text.substr(0, kUuidChars)), names_.size()).first;
      named += fmt::format("#{}", it->second);
    } else {
      named += text.front();
    }
    text.remove_prefix(begins_uuid ? kUuidChars : 1);
  }
  return named;
}

std::string text_of(const Error& error) {
  std::string text = error.to_string();
  for (const auto& [name, detail] : error.context.items())
    text +=
        fmt::format(" {}={}", name,
                    core::json::serialize(std::visit([](const auto& value) { return core::to_value(value); }, detail)));
  return text;
}

std::string text_of(const Blob& blob) {
  return fmt::format("{} bytes {} of {}", blob.bytes.size(), blob.bytes, blob.content_type);
}
std::string text_of(const Done&) { return "done"; }
std::string text_of(const std::optional<std::string>& text) { return text ? *text : "none"; }
std::string text_of(const std::optional<Blob>& blob) { return blob ? text_of(*blob) : "none"; }

std::string text_of(const ClaimedTask& task) {
  return fmt::format("{} {} {} payload {} {} until {} epoch {}", core::name_of(task.kind), text_of(task.execution),
                     text_of(task.attempt), text_of(task.payload), task.payload_content_type, task.lease_expires_at_ms,
                     task.lease_epoch);
}

/// Positions in the log are the store's own.
std::string text_of(const Event& event) {
  Event shown = event;
  shown.event_id = 0;
  return core::to_json_text(shown);
}

}  // namespace ff::test
