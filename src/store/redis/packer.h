#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ff::store::redis {

/// Writes numbers and texts one after the other: numbers in groups of seven bits, lowest first, texts behind their
/// length.
class Packer {
 public:
  Packer& number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
    return *this;
  }
  Packer& signed_number(std::int64_t value) {
    return number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  Packer& text(std::string_view value) {
    number(value.size());
    out_.append(value);
    return *this;
  }
  Packer& raw(std::string_view bytes) {
    out_.append(bytes);
    return *this;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// Reads what a Packer wrote. Past the end everything is empty, and `good` says so.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const auto byte = static_cast<std::uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::string_view text() { return raw(number()); }
  std::string_view raw(std::uint64_t size) {
    if (size > left_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }
  /// Everything that is left.
  std::string_view rest() { return raw(left_.size()); }
  /// Whether everything was there, and nothing is left.
  bool complete() const { return good_ && left_.empty(); }
  bool good() const { return good_; }

 private:
  std::string_view left_;
  bool good_ = true;
};

}  // namespace ff::store::redis
