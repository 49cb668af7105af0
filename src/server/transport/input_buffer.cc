#include "server/transport/input_buffer.h"

#include <algorithm>
#include <cstring>

namespace ff::server::transport {

void InputBuffer::use(std::size_t bytes) {
  begin_ += bytes;
  if (begin_ == end_) begin_ = end_ = 0;
}

/// Takes the unused bytes to the front, into memory of this size.
void InputBuffer::move_to(std::size_t capacity) {
  const std::string_view kept = unused();
  const std::size_t size = kept.size();
  if (capacity == capacity_) {
    std::memmove(bytes_.get(), kept.data(), size);
  } else {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size > 0) std::memcpy(larger.get(), kept.data(), size);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }
  begin_ = 0;
  end_ = size;
}

std::span<char> InputBuffer::room() {
  const std::size_t size = end_ - begin_;
  std::size_t wanted = std::max(capacity_, kSmallBytes);
  if (was_full_) wanted = std::max(wanted, kLargeBytes);
  // What one reader cannot use piece by piece is bounded by the limit on heads, so this ends.
  while (wanted - size < kSmallBytes / 2) wanted *= 2;
  if (wanted != capacity_ || capacity_ - end_ < kSmallBytes / 2) move_to(wanted);
  return {bytes_.get() + end_, capacity_ - end_};
}

void InputBuffer::filled(std::size_t bytes) {
  end_ += bytes;
  was_full_ = end_ == capacity_;
}

void InputBuffer::rest() {
  was_full_ = false;
  if (capacity_ > kSmallBytes && end_ - begin_ <= kSmallBytes / 2) move_to(kSmallBytes);
}

}  // namespace ff::server::transport
