#include "store/postgres/params.h"

namespace ff::store::postgres {
namespace {

// Number of dimensions, whether there are nulls, element type, length, lower bound.
constexpr std::size_t kFlagsAt = 4, kTypeAt = 8, kLengthAt = 12, kHeaderBytes = 20;

}  // namespace

Array::Array(std::uint32_t element_type) : data_(kHeaderBytes, '\0') {
  set32(0, 1);
  set32(kTypeAt, element_type);
  set32(kLengthAt + 4, 1);
}

void Array::clear() {
  data_.resize(kHeaderBytes);
  count_ = 0;
  has_null_ = false;
}

void Array::put32(std::uint32_t value) {
  const char bytes[] = {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
                        static_cast<char>(value)};
  data_.append(bytes, sizeof bytes);
}

void Array::set32(std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) data_[at + i] = static_cast<char>(value >> (24 - 8 * i));
}

void Array::add_bytes(std::string_view value) {
  put32(static_cast<std::uint32_t>(value.size()));
  data_.append(value);
  ++count_;
}

void Array::add_null() {
  put32(0xffffffff);
  has_null_ = true;
  ++count_;
}

std::string_view Array::bytes() {
  set32(kFlagsAt, has_null_ ? 1 : 0);
  set32(kLengthAt, count_);
  return data_;
}

void Params::add(const char* data, std::size_t length) {
  items_.push_back({data, false, {}});
  lengths_.push_back(static_cast<int>(length));
  formats_.push_back(1);
}

Params& Params::number(std::int64_t value) {
  add(nullptr, 8);
  Item& item = items_.back();
  item.own = true;
  for (std::size_t i = 0; i < 8; ++i)
    item.buffer[i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (56 - 8 * i));
  return *this;
}

Params& Params::number4(std::int32_t value) {
  add(nullptr, 4);
  Item& item = items_.back();
  item.own = true;
  for (std::size_t i = 0; i < 4; ++i)
    item.buffer[i] = static_cast<char>(static_cast<std::uint32_t>(value) >> (24 - 8 * i));
  return *this;
}

Params& Params::bytes(std::string_view value) {
  add(value.empty() ? "" : value.data(), value.size());
  return *this;
}

Params& Params::null() {
  add(nullptr, 0);
  return *this;
}

const char* const* Params::values() {
  values_.clear();
  for (const Item& item : items_) values_.push_back(item.own ? item.buffer : item.data);
  return values_.data();
}

}  // namespace ff::store::postgres
