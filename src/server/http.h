#pragma once

// A request and its answer, as any transport can carry them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ff::server {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// Who can reach an address at all.
enum class Reach : std::uint8_t {
  anywhere,
  loopback,  ///< programs of this machine, its browsers among them
  socket,    ///< programs of this machine that may open the file
};

/// The address that a request came to, and what is served there.
struct Door {
  bool api = true;    ///< all but what is for those who run the server
  bool admin = true;  ///< what is for them: `/v1/admin/...` and `/metrics`
  Reach reach = Reach::anywhere;
};

struct Request {
  std::string method;
  std::string target;  ///< path and query, as they stand in the request line
  Headers headers;
  std::string body;
  Door door;
  std::string remote;  ///< the address it came from
};

/// A body that comes bit by bit, for as long as somebody listens. It is pulled, so that a slow listener holds nothing
/// but the part it has not taken yet.
class BodyStream {
 public:
  using Ready = std::move_only_function<void(std::optional<std::string>)>;

  virtual ~BodyStream() = default;
  /// Calls `ready` once, before this returns or later on any thread: the next part, or none when that was all. At most
  /// one is outstanding.
  virtual void next(Ready ready) = 0;
  /// The server is shutting down: what is outstanding or asked for next is the last part.
  virtual void finish() = 0;
  /// Nobody listens any more. What is outstanding may stay without an answer.
  virtual void close() = 0;
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
  /// Instead of `body`: server-sent events. Whoever takes the answer pulls them, or closes it.
  std::shared_ptr<BodyStream> stream;
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
