#pragma once

// A request and its answer, as any transport can carry them.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ff::server {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;
  std::string target;  ///< path and query, as they stand in the request line
  Headers headers;
  std::string body;
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
  /// To be called when the answer could not be sent: gives back what it would have handed out. May be unset.
  std::move_only_function<void()> undelivered;
};

/// The first header of that name, in any case; nullptr when there is none.
const std::string* find_header(const Headers& headers, std::string_view name);

/// Letters compared without their case.
bool same_word(std::string_view left, std::string_view right);

/// 1 to `bytes_max` printable ASCII characters: what may be echoed in a header.
bool is_printable(std::string_view text, std::size_t bytes_max);

/// `application/json` of `Application/JSON; charset=utf-8`, in lower case.
std::string media_type(std::string_view content_type);

}  // namespace ff::server
