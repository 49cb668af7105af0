#pragma once

// From bytes to one HTTP/1.1 answer. Knows nothing of sockets.

#include <cstdint>
#include <string>
#include <string_view>

namespace ff::client {

struct HttpAnswer {
  int status = 0;
  std::string content_type;
  std::uint32_t retry_after_s = 0;
  bool replay = false;  ///< `Idempotent-Replay: true`
  std::string body;
};

/// Takes an answer apart as it comes in. One after the other: `take` makes it ready for the next.
class AnswerReader {
 public:
  static constexpr std::size_t kHeadBytesMax = 64 * 1024;
  /// A page of answers with payloads is large; what is larger than this is not ours.
  static constexpr std::size_t kBodyBytesMax = 256 * 1024 * 1024;

  /// Takes these bytes. False when they are no HTTP answer; nothing can be read from this connection then.
  bool read(std::string_view bytes);
  /// No more bytes will come. True when that completes an answer whose length nobody told.
  bool end();

  bool has_begun() const { return !head_.empty() || stage_ != Stage::head; }
  bool is_whole() const { return stage_ == Stage::whole; }
  /// The connection can be used for another request.
  bool keeps_alive() const { return keeps_alive_; }
  HttpAnswer take();

 private:
  enum class Stage : std::uint8_t { head, sized, chunk_size, chunk, chunk_end, trailer, to_end, whole };

  bool read_head();
  bool read_header(std::string_view name, std::string_view value);
  /// One line of `bytes`, which loses it; false while it is not whole.
  bool take_line(std::string_view& bytes);
  bool read_chunk_size();
  bool add_body(std::string_view& bytes);

  Stage stage_ = Stage::head;
  std::string head_;  ///< what has come of the head, or of a line between chunks
  HttpAnswer answer_;
  std::uint64_t left_ = 0;  ///< of the body, or of the chunk
  bool has_length_ = false;
  bool is_chunked_ = false;
  bool keeps_alive_ = true;
};

}  // namespace ff::client
