#pragma once

// From bytes to a request. Knows nothing of sockets.

#include "server/http.h"
#include "server/limits.h"

#include <memory>
#include <span>

namespace ff::server::transport {

/// Reads one request, head first and then its body, from bytes as they come in.
class RequestReader {
 public:
  explicit RequestReader(const Limits& limits);
  ~RequestReader();

  /// Takes bytes from the front of `bytes` until the head is whole, and in later calls until the body is. How many it has
  /// taken; the rest has to be shown again, with more behind it.
  std::size_t read(std::string_view bytes);
  /// Room for more of a body whose length is known, to be filled without a detour; empty when there is none.
  std::span<char> room();
  void filled(std::size_t bytes);

  bool has_head() const;
  bool is_whole() const;
  /// The status that tells what is wrong with it; 0 while nothing is.
  int fault() const;
  /// A byte of it has come.
  bool has_begun() const;

  Request take_head();
  std::string take_body();

  // Of the head.
  bool keeps_alive() const;
  bool is_http_1_0() const;
  bool is_safe() const;  ///< changes nothing: may be carried out beside others
  bool expects_continue() const;
  /// What is still to come of the body is known, and not more than this.
  bool has_at_most(std::uint64_t bytes) const;

 private:
  class Parser;

  void take_up_head();
  std::size_t read_sized(std::string_view bytes);
  std::size_t read_chunked(std::string_view bytes);

  Limits limits_;
  std::unique_ptr<Parser> parser_;
  bool has_head_ = false;
  bool is_whole_ = false;
  int fault_ = 0;
  bool expects_continue_ = false;
  bool is_safe_ = false;
  std::string body_;
  std::uint64_t body_left_ = 0;    ///< of a body whose length is known
  std::size_t body_filled_ = 0;    ///< how much of `body_` has been read
};

}  // namespace ff::server::transport
