#pragma once

// Figures in the text format of Prometheus, version 0.0.4.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ff::server {

class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Begins a family; its values follow.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void value(Labels labels, double value);
  void value(Labels labels, std::uint64_t value);
  /// `counts` has one entry per bound and one for what is beyond them all.
  void histogram(Labels labels, std::span<const double> bounds, std::span<const std::uint64_t> counts, double sum);

  std::string take() && { return std::move(text_); }

 private:
  void line(std::string_view suffix, Labels labels, std::string_view bound, std::string_view value);

  std::string text_;
  std::string name_;
};

}  // namespace ff::server
