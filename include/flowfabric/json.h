#pragma once

// Payloads and results as described types: `task.payload_as<Job>()`, `ff::complete(answer)`, `ff::to_payload(job)`.
// A type is described with BOOST_DESCRIBE_STRUCT, or is anything that Boost.JSON converts by itself.

#include <flowfabric/task.h>

#include <boost/describe/class.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <boost/json/value_to.hpp>

#include <string>
#include <type_traits>

namespace ff {

/// A value as JSON bytes, ready to be a payload.
template <class T>
Bytes to_payload(const T& value) {
  return boost::json::serialize(boost::json::value_from(value));
}

/// JSON bytes as a value; throws PayloadError with the reason.
template <class T>
T from_payload(const Bytes& bytes) {
  boost::json::error_code error;
  const boost::json::value parsed = boost::json::parse(bytes, error);
  if (error) throw PayloadError("the payload is not JSON: " + error.message());
  auto value = boost::json::try_value_to<T>(parsed);
  if (!value) throw PayloadError("the payload does not fit its type: " + value.error().message());
  return std::move(*value);
}

template <class T>
T Task::payload_as() const {
  if (!has_payload()) throw PayloadError("the execution has no payload");
  return from_payload<T>(payload());
}

/// The work is done; the value, as JSON, is the result.
template <class T>
  requires(boost::describe::has_describe_members<T>::value && !std::is_convertible_v<T, Bytes>)
Outcome complete(const T& value) {
  return complete(to_payload(value), "application/json");
}

}  // namespace ff
