#pragma once

// From a request to the described type that a call takes. Body, path, query and headers are gathered into one JSON
// object, which the one strict reader of `core` reads: whatever is wrong is said in the same words wherever it stood.

#include "core/describe_calls.h"
#include "core/validate.h"
#include "server/blob.h"
#include "server/json_text.h"
#include "server/problem.h"

#include <charconv>

namespace ff::server {

/// What one call is given, before its types are known.
struct Input {
  core::json::object fields;                               ///< of the body, the path and the headers
  std::vector<RawMember> raw;                              ///< the body's members as they were sent
  std::vector<std::pair<std::string, std::string>> query;  ///< texts, until the type says what they are
  std::optional<Blob> body;                                ///< of a request whose whole body is the payload
};

/// The bytes that a request carries beside its described members. `member` is null for most types.
template <class T>
struct BlobMember {
  static constexpr const char* kName = nullptr;
};
template <>
struct BlobMember<Submission> {
  static constexpr const char* kName = "payload";
  static std::optional<Bytes>& of(Submission& request) { return request.payload; }
};
template <>
struct BlobMember<CompleteTask> {
  static constexpr const char* kName = "result";
  static std::optional<Bytes>& of(CompleteTask& request) { return request.result; }
};
template <>
struct BlobMember<OperatorComplete> {
  static constexpr const char* kName = "result";
  static std::optional<Bytes>& of(OperatorComplete& request) { return request.result; }
};
template <class T>
inline constexpr bool has_blob = BlobMember<T>::kName != nullptr;

/// A query parameter as the JSON value that its field would have in a body. What does not fit stays a text, and the
/// reader says what was expected.
template <class M>
core::json::value query_value(const std::string& text) {
  if constexpr (core::is_optional<M>) {
    return query_value<typename M::value_type>(text);
  } else if constexpr (std::is_same_v<M, bool>) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
  } else if constexpr (std::is_integral_v<M>) {
    const char* end = text.data() + text.size();
    std::int64_t number = 0;
    if (auto read = std::from_chars(text.data(), end, number); read.ec == std::errc() && read.ptr == end) return number;
    std::uint64_t large = 0;
    if (auto read = std::from_chars(text.data(), end, large); read.ec == std::errc() && read.ptr == end) return large;
  }
  return core::json::string(text);
}

template <class M>
inline constexpr bool is_list = false;
template <class M>
inline constexpr bool is_list<std::vector<M>> = true;

/// `tag.<key>=<value>`: the query's form of a member of `tags`.
inline constexpr std::string_view kTagPrefix = "tag.";

/// Adds a parameter that may stand only once.
core::Fault put_once(core::json::object& fields, std::string_view name, core::json::value value);

/// Moves the query into the fields.
template <class T>
core::Fault take_query(Input& input) {
  const T empty{};
  for (auto& [name, text] : input.query) {
    core::Fault fault;
    bool known = false;
    core::for_each_field(empty, [&](std::string_view field, const auto& member) {
      using M = std::remove_cvref_t<decltype(member)>;
      if constexpr (std::is_same_v<M, Tags>) {
        if (field != "tags" || !name.starts_with(kTagPrefix)) return;
        known = true;
        core::json::value& tags = input.fields["tags"];
        if (tags.is_null()) tags.emplace_object();
        fault = put_once(tags.get_object(), name.substr(kTagPrefix.size()), core::json::string(text));
      } else if constexpr (is_list<M>) {
        if (field != name) return;
        known = true;
        core::json::value& list = input.fields[name];
        if (list.is_null()) list.emplace_array();
        if (list.is_array()) list.get_array().push_back(query_value<typename M::value_type>(text));
      } else {
        if (field != name) return;
        known = true;
        fault = put_once(input.fields, name, query_value<M>(text));
      }
    });
    if (!known) fault = input_error({name, core::JsonFault::unknown_member, {}});
    if (fault) return fault;
  }
  return std::nullopt;
}

/// A policy has error codes of its own: it is taken out and read by its own reader.
Result<std::optional<Policy>> take_policy(Input& input);
/// The payload or result of the body.
Result<std::optional<Blob>> take_blob(Input& input, std::string_view name);

template <class T>
Result<T> decode(Input input) {
  T request;
  if (auto fault = take_query<T>(input)) return std::unexpected(std::move(*fault));
  std::optional<Policy> policy;
  std::optional<Blob> blob;
  if constexpr (requires { request.policy; }) {
    auto taken = take_policy(input);
    if (!taken) return std::unexpected(taken.error());
    policy = std::move(*taken);
  }
  if constexpr (has_blob<T>) {
    auto taken = take_blob(input, BlobMember<T>::kName);
    if (!taken) return std::unexpected(taken.error());
    blob = std::move(*taken);
  }
  core::JsonReader reader;
  if (!reader.read(core::json::value(std::move(input.fields)), request))
    return std::unexpected(input_error(reader.problem()));
  if constexpr (requires { request.policy; })
    if (policy) request.policy = std::move(policy);
  if constexpr (has_blob<T>)
    if (blob) {
      BlobMember<T>::of(request) = std::move(blob->bytes);
      request.content_type = std::move(blob->content_type);
    }
  return request;
}

/// The fields of one JSON object, with their texts. `invalid_input` when it is none.
Result<Input> input_of(std::string_view text);
/// The same for text that has been parsed already.
Result<Input> input_of(core::json::value&& parsed, std::string_view text);

}  // namespace ff::server
