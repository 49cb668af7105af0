#include "core/errors.h"

#include <algorithm>
#include <array>

namespace ff {
namespace {

constexpr std::array kTraits = {
#define FF_TRAITS(name, category, kind, http, retry) \
  ErrorTraits{#name, ErrorCategory::category, ErrorClass::kind, http, retry},
    FF_ERROR_CODES(FF_TRAITS)
#undef FF_TRAITS
};

}  // namespace

const ErrorTraits& traits(ErrorCode code) { return kTraits[static_cast<std::size_t>(code)]; }

std::optional<ErrorCode> parse_error_code(std::string_view name) {
  for (std::size_t i = 0; i < kTraits.size(); ++i)
    if (kTraits[i].name == name) return static_cast<ErrorCode>(i);
  return std::nullopt;
}

void ErrorContext::set(std::string name, Detail value) {
  for (auto& [known, old] : items_)
    if (known == name) {
      old = std::move(value);
      return;
    }
  items_.emplace_back(std::move(name), std::move(value));
}

const Detail* ErrorContext::find(std::string_view name) const {
  auto it = std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.first == name; });
  return it == items_.end() ? nullptr : &it->second;
}

std::string_view ErrorContext::text(std::string_view name) const {
  const Detail* detail = find(name);
  const auto* text = detail ? std::get_if<std::string>(detail) : nullptr;
  return text ? std::string_view(*text) : std::string_view();
}

std::optional<std::int64_t> ErrorContext::number(std::string_view name) const {
  const Detail* detail = find(name);
  const auto* number = detail ? std::get_if<std::int64_t>(detail) : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

std::string Error::to_string() const { return fmt::format("{}: {}", traits(code).name, message); }

namespace core {

Error invalid_input(std::string_view field, std::string_view reason, std::string message) {
  return {ErrorCode::invalid_input,
          std::move(message),
          {{"field", std::string(field)}, {"reason", std::string(reason)}}};
}

Error corruption(std::string_view record, std::string_view field, std::string_view value) {
  return {ErrorCode::corruption,
          fmt::format("The stored record contradicts itself: {}: {}: {}. Nothing was changed; run `ff check` on this store.",
                      record, field, value),
          {{"detail", fmt::format("{}: {}: {}", record, field, value)}}};
}

}  // namespace core
}  // namespace ff
