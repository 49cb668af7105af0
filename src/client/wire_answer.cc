#include "client/wire_answer.h"

#include "client/blob.h"
#include "core/describe_calls.h"
#include "core/json_text.h"

namespace ff::client {
namespace {

namespace json = core::json;

std::unexpected<Error> unreadable(std::string what) {
  return core::fail(ErrorCode::store_refused,
                    fmt::format("The server's answer cannot be read: {}. It may be newer than this program; use the same "
                                "version on both sides.",
                                what),
                    {{"reason", std::string("version_unsupported")}});
}

/// The first member of a reply is always there, unless it may be unset.
template <class T>
bool has_first_member(const json::value& body) {
  if constexpr (core::Described<T>) {
    const T empty{};
    bool first = true, has = true;
    core::for_each_field(empty, [&](std::string_view name, const auto& member) {
      if (std::exchange(first, false) && !core::is_optional<std::remove_cvref_t<decltype(member)>>)
        has = body.is_object() && body.get_object().contains(name);
    });
    return has;
  }
  return true;
}

template <class T>
Result<T> read_described(const json::value* body) {
  if (!body) return unreadable("it is no JSON");
  if (!has_first_member<T>(*body)) return unreadable("it is the answer to something else");
  T value;
  core::JsonReader reader(core::UnknownMembers::ignored);
  if (!reader.read(*body, value))
    return unreadable(fmt::format("'{}' has to be {}", reader.problem().path, reader.problem().expected));
  return value;
}

template <class T>
Result<Page<T>> read_page(const json::value* body) {
  const json::object* object = body ? body->if_object() : nullptr;
  const json::value* items = object ? object->if_contains("items") : nullptr;
  if (!items) return unreadable("it is no page");
  auto list = read_described<std::vector<T>>(items);
  if (!list) return std::unexpected(list.error());
  Page<T> page{std::move(*list), std::nullopt};
  if (const json::value* cursor = object->if_contains("next_cursor"); cursor && cursor->is_string())
    page.next_cursor = std::string(cursor->get_string());
  return page;
}

/// What an unknown code amounts to, by its status.
ErrorCode code_of_status(int status) {
  switch (status) {
    case 401: return ErrorCode::unauthorized;
    case 403: return ErrorCode::forbidden;
    case 404: return ErrorCode::route_not_found;
    case 405: return ErrorCode::method_not_allowed;
    case 413: return ErrorCode::payload_too_large;
    case 429: return ErrorCode::resource_exhausted;
    case 408:
    case 502:
    case 503: return ErrorCode::store_unavailable;
    case 504: return ErrorCode::timeout;
    default: return status >= 500 ? ErrorCode::invariant_violation : ErrorCode::invalid_input;
  }
}

std::optional<Detail> detail_of(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64()) return static_cast<std::int64_t>(value.get_uint64());
  if (value.is_string()) return std::string(value.get_string());
  const json::array* list = value.if_array();
  if (!list) return std::nullopt;
  std::vector<std::string> texts;
  for (const auto& item : *list)
    if (item.is_string()) texts.emplace_back(item.get_string());
  return texts;
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

/// None when it is no problem document.
std::optional<Error> problem_of(int status, const json::value& document) {
  const json::object* object = document.if_object();
  if (!object) return std::nullopt;
  const std::string name = text_at(*object, "code");
  if (name.empty()) return std::nullopt;
  Error error;
  const auto code = parse_error_code(name);
  error.code = code.value_or(code_of_status(status));
  error.message = text_at(*object, "detail");
  if (const json::value* context = object->if_contains("context"); context && context->is_object())
    for (const auto& [key, value] : context->get_object())
      if (auto detail = detail_of(value)) error.context.set(std::string(key), std::move(*detail));
  if (!code) error.context.set("code", name);
  if (const json::value* ms = object->if_contains("retry_after_ms"); ms && ms->is_int64())
    error.context.set("retry_after_ms", ms->get_int64());
  return error;
}

}  // namespace

Error read_problem(int status, std::string_view text, std::uint32_t retry_after_s, const std::string& server) {
  json::error_code broken;
  const json::value document = json::parse(text, broken);
  std::optional<Error> error = broken ? std::nullopt : problem_of(status, document);
  if (!error) {
    // Something between us and the server, or no server of ours at all.
    error = foreign_answer(status, "", server);
    if (status >= 500 || status == 429 || status == 408) error->code = code_of_status(status == 500 ? 503 : status);
  }
  if (retry_after_s > 0 && !error->context.number("retry_after_ms"))
    error->context.set("retry_after_ms", std::int64_t{retry_after_s} * 1000);
  return *error;
}

Error read_problem(int status, const json::value& problem) {
  auto error = problem_of(status, problem);
  if (error) return *error;
  return {code_of_status(status), "The server refused this call without saying why.", {}};
}

Error foreign_answer(int status, std::string_view content_type, const std::string& server) {
  return {ErrorCode::store_refused,
          fmt::format("{} answers, but not as a FlowFabric server does (status {}{}{:.100}). Check the address and what "
                      "stands in front of it.",
                      server, status, content_type.empty() ? "" : ", ", content_type),
          {{"reason", std::string("not_flowfabric")}, {"status", std::int64_t{status}}}};
}

const json::array* batch_answers(const json::value& body, std::size_t count) {
  const json::object* object = body.if_object();
  const json::value* items = object ? object->if_contains("items") : nullptr;
  if (!items || !items->is_array() || items->get_array().size() != count) return nullptr;
  return &items->get_array();
}

// ---- replies ------------------------------------------------------------------------------------------------------

#define FF_READ(Reply) \
  Result<Reply> read_reply(const WireAnswer& answer, As<Reply>) { return read_described<Reply>(answer.body); }
FF_READ(Changed)
FF_READ(TaskFailed)
FF_READ(TaskDelayed)
FF_READ(Submitted)
FF_READ(PriorityChanged)
FF_READ(Revoked)
FF_READ(Lane)
FF_READ(LeaseRenewed)
FF_READ(Execution)
FF_READ(WorkerRegistered)
FF_READ(WorkerAlive)
FF_READ(WorkerMarkedDead)
FF_READ(FabricInfo)
#undef FF_READ

#define FF_READ_PAGE(Item) \
  Result<Page<Item>> read_reply(const WireAnswer& answer, As<Page<Item>>) { return read_page<Item>(answer.body); }
FF_READ_PAGE(ExecutionSummary)
FF_READ_PAGE(Attempt)
FF_READ_PAGE(Event)
FF_READ_PAGE(LeaseItem)
FF_READ_PAGE(LaneStatus)
FF_READ_PAGE(WorkerInfo)
#undef FF_READ_PAGE

Result<Done> read_reply(const WireAnswer&, As<Done>) {
  return Done{};
}

Result<LaneCounts> read_reply(const WireAnswer& answer, As<LaneCounts>) {
  auto status = read_described<LaneStatus>(answer.body);
  if (!status) return std::unexpected(status.error());
  return status->depth;
}

Result<std::optional<Blob>> read_reply(const WireAnswer& answer, As<std::optional<Blob>>) {
  if (answer.status == 204) return std::nullopt;
  return Blob{Bytes(answer.text), std::string(answer.content_type)};
}

Result<std::vector<ClaimedTask>> read_reply(const WireAnswer& answer, As<std::vector<ClaimedTask>>) {
  const json::object* object = answer.body ? answer.body->if_object() : nullptr;
  const json::value* list = object ? object->if_contains("tasks") : nullptr;
  if (!list || !list->is_array()) return unreadable("it holds no tasks");
  // Payloads are cut out of the text: they have to come out byte for byte.
  std::vector<std::string_view> texts;
  for (const auto& member : core::raw_members(answer.text))
    if (member.name == "tasks") texts = core::raw_elements(member.text);
  const json::array& items = list->get_array();
  if (texts.size() != items.size()) return unreadable("its tasks cannot be told apart");
  std::vector<ClaimedTask> tasks(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    core::JsonReader reader(core::UnknownMembers::ignored);
    if (!reader.read(items[i], tasks[i]))
      return unreadable(fmt::format("'{}' of a task has to be {}", reader.problem().path, reader.problem().expected));
    const json::value* payload = items[i].get_object().if_contains("payload");
    if (!payload) continue;
    std::string_view text;
    if (!is_encoded(*payload))
      for (const auto& member : core::raw_members(texts[i]))
        if (member.name == "payload") text = member.text;
    auto bytes = bytes_of(*payload, text);
    if (!bytes) return unreadable("a payload is no base64");
    tasks[i].payload = std::move(*bytes);
  }
  return tasks;
}

}  // namespace ff::client
