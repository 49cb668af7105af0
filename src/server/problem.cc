#include "server/problem.h"

#include "core/text.h"

namespace ff::server {
namespace {

constexpr std::size_t kEchoBytesMax = 200;  ///< of what a caller wrote, in a sentence
constexpr std::int64_t kDrainingRetryMs = 1'000;
constexpr std::int64_t kExhaustedRetryMs = 25;

/// Names under which a secret could travel, whoever put it there.
constexpr std::string_view kSecret[] = {"handle",     "token",         "waitpoint_token", "secret",
                                        "secret_hex", "authorization", "password",        "url"};

bool may_be_shown(std::string_view name) {
  return std::find(std::begin(kSecret), std::end(kSecret), name) == std::end(kSecret);
}

core::json::value detail_value(const Detail& detail) {
  return std::visit([](const auto& value) { return core::to_value(value); }, detail);
}

std::optional<std::int64_t> retry_after_ms(const Error& error) {
  const auto known = error.context.number("retry_after_ms");
  if (error.code == ErrorCode::draining) return known.value_or(kDrainingRetryMs);
  if (error.code == ErrorCode::resource_exhausted) return std::max(known.value_or(kExhaustedRetryMs), kExhaustedRetryMs);
  return known;
}

std::string detail_of(const Error& error, std::string_view request_id) {
  if (error.category() == ErrorCategory::bug)
    return fmt::format("The server met a fault of its own. Its log has the details under request {}; nothing was changed "
                       "by this call.",
                       request_id);
  if (error.category() == ErrorCategory::transport)
    return fmt::format("The store could not be reached, or its reply was lost: the call may have been carried out. Repeat "
                       "it with the same id, key or handle. The log has more under request {}.",
                       request_id);
  if (error.code == ErrorCode::store_refused)
    return fmt::format("The store was refused. The log has more under request {}.", request_id);
  return core::clean_text(error.message, core::json::string::max_size());
}

std::string_view reason_of(core::JsonFault fault) {
  switch (fault) {
    case core::JsonFault::wrong_type: return "wrong_type";
    case core::JsonFault::out_of_range: return "out_of_range";
    case core::JsonFault::unknown_member: return "unknown_field";
    case core::JsonFault::missing: return "missing";
    case core::JsonFault::unknown_value: return "unknown_value";
  }
  return "wrong_type";
}

}  // namespace

std::string problem_title(ErrorCode code) {
  std::string title(traits(code).name);
  std::replace(title.begin(), title.end(), '_', ' ');
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

bool is_for_the_log(const Error& error) {
  return error.category() == ErrorCategory::bug || error.category() == ErrorCategory::transport ||
         error.code == ErrorCode::store_refused;
}

core::json::object problem_document(const Error& error, std::string_view request_id) {
  const ErrorTraits& fixed = traits(error.code);
  core::json::object document;
  document["type"] = fmt::format("https://flowfabric.dev/errors/{}", fixed.name);
  document["title"] = problem_title(error.code);
  document["status"] = fixed.http_status;
  document["detail"] = detail_of(error, request_id);
  document["code"] = fixed.name;
  document["retryable"] = fixed.retryable;
  if (auto ms = retry_after_ms(error)) document["retry_after_ms"] = *ms;
  core::json::object context;
  if (!is_for_the_log(error))
    for (const auto& [name, value] : error.context.items())
      if (name != "retry_after_ms" && may_be_shown(name)) context[name] = detail_value(value);
  document["context"] = std::move(context);
  return document;
}

Response problem_response(const Error& error, std::string_view request_id) {
  Response response;
  response.status = traits(error.code).http_status;
  response.headers.emplace_back("Content-Type", kProblemType);
  if (auto ms = retry_after_ms(error))
    response.headers.emplace_back("Retry-After", std::to_string(std::max<std::int64_t>(1, (*ms + 999) / 1000)));
  response.body = core::json::serialize(problem_document(error, request_id));
  return response;
}

Error input_error(const core::JsonProblem& problem) {
  const std::string field =
      problem.path.empty() ? "body" : core::without_controls(core::clean_text(problem.path, kEchoBytesMax));
  std::string sentence;
  switch (problem.fault) {
    case core::JsonFault::unknown_member:
      sentence = fmt::format("There is no field '{}' here. Correct its name or leave it out.", field);
      break;
    case core::JsonFault::missing: sentence = fmt::format("The field '{}' is missing. Give it.", field); break;
    default: sentence = fmt::format("'{}' has to be {}.", field, problem.expected); break;
  }
  return core::invalid_input(field, reason_of(problem.fault), std::move(sentence));
}

}  // namespace ff::server
