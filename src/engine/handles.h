#pragma once

#include "core/base64.h"
#include "core/errors.h"
#include "core/handle.h"
#include "core/records/records.h"

#include <array>
#include <memory>

namespace ff::engine {

using core::base64url;
using core::from_base64url;

std::array<std::uint8_t, 32> sha256(std::string_view bytes);

/// Seals and opens worker handles: authenticated, and bound to one data set. Thread-safe.
class HandleSealer {
 public:
  explicit HandleSealer(const core::Dataset& dataset);
  ~HandleSealer();

  std::string seal(const core::TaskHandle& handle) const;
  /// `invalid_handle` with detail `malformed`, `unsupported_version`, `other_data_set` or `altered`. Reads nothing but
  /// the text.
  Result<core::TaskHandle> open(std::string_view text) const;

 private:
  struct Keyed;

  std::array<std::uint8_t, 16> tag(std::string_view bytes) const;

  Uuid data_set_id_;
  std::uint16_t partitions_;
  std::unique_ptr<Keyed> keyed_;
};

}  // namespace ff::engine
