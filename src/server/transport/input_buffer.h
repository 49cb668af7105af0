#pragma once

// Bytes that were read and not used yet. Small while a connection rests, larger while much comes in.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace ff::server::transport {

class InputBuffer {
 public:
  static constexpr std::size_t kSmallBytes = 2 * 1024;   ///< holds a common request
  static constexpr std::size_t kLargeBytes = 64 * 1024;  ///< what one read asks for when much comes in

  std::string_view unused() const { return {bytes_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  /// So many bytes from the front have been used.
  void use(std::size_t bytes);

  /// Room for a read. Grows when the last read filled it, or what is unused fills it.
  std::span<char> room();
  void filled(std::size_t bytes);
  /// Nothing is expected for a while: gives memory back that a common request does not need.
  void rest();

 private:
  void move_to(std::size_t capacity);

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
  bool was_full_ = false;
};

}  // namespace ff::server::transport
