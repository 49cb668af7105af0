#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ff::store::postgres {

/// An array in Postgres' binary form, filled value by value.
class Array {
 public:
  explicit Array(std::uint32_t element_type);

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  void clear();
  /// The finished value.
  std::string_view bytes();

 protected:
  void add_bytes(std::string_view value);
  void add_null();
  template <class I>
  void add_integer(I value) {
    char bytes[4 + sizeof(I)] = {0, 0, 0, sizeof(I)};
    for (std::size_t i = 0; i < sizeof(I); ++i)
      bytes[4 + i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * (sizeof(I) - 1 - i)));
    data_.append(bytes, sizeof bytes);
    ++count_;
  }

 private:
  void put32(std::uint32_t value);
  void set32(std::size_t at, std::uint32_t value);

  std::string data_;
  std::uint32_t count_ = 0;
  bool has_null_ = false;
};

template <class I, std::uint32_t Oid>
class IntegerArray final : public Array {
 public:
  IntegerArray() : Array(Oid) {}
  template <class T>
  void add(T value) {
    add_integer(static_cast<I>(value));
  }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value)
      add_integer(static_cast<I>(*value));
    else
      add_null();
  }
};
using Int2Array = IntegerArray<std::int16_t, 21>;
using Int4Array = IntegerArray<std::int32_t, 23>;
using Int8Array = IntegerArray<std::int64_t, 20>;

class BoolArray final : public Array {
 public:
  BoolArray() : Array(16) {}
  /// True, or null: partial indexes then hold the true ones only.
  void add_true_or_null(bool value) {
    if (value)
      add_bytes(std::string_view("\1", 1));
    else
      add_null();
  }
};

template <std::uint32_t Oid>
class BytesArray final : public Array {
 public:
  BytesArray() : Array(Oid) {}
  void add(std::string_view value) { add_bytes(value); }
  void add_or_null(std::string_view value) { value.empty() ? add_null() : add_bytes(value); }
  void add(const std::optional<std::string_view>& value) { value ? add_bytes(*value) : add_null(); }
  void null() { add_null(); }
};
using TextArray = BytesArray<25>;
using ByteaArray = BytesArray<17>;
using TidArray = BytesArray<27>;

/// The values of a statement's parameters, in binary. Arrays and texts are pointed to and must outlive the call.
class Params {
 public:
  Params() = default;

  Params& number(std::int64_t value);
  Params& number4(std::int32_t value);
  Params& number(std::optional<std::int64_t> value) { return value ? number(*value) : null(); }
  Params& bytes(std::string_view value);
  Params& array(Array& value) { return bytes(value.bytes()); }
  Params& null();

  int count() const { return static_cast<int>(items_.size()); }
  /// For libpq; valid while this object is not changed.
  const char* const* values();
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  struct Item {
    const char* data = nullptr;
    bool own = false;
    char buffer[8] = {};
  };
  void add(const char* data, std::size_t length);

  std::vector<Item> items_;
  std::vector<const char*> values_;
  std::vector<int> lengths_, formats_;
};

}  // namespace ff::store::postgres
