#include "server/metrics_text.h"

#include <fmt/format.h>

namespace ff::server {
namespace {

std::string escaped(std::string_view value) {
  std::string out;
  for (char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void MetricsText::line(std::string_view suffix, Labels labels, std::string_view bound, std::string_view value) {
  text_.append(name_).append(suffix);
  char before = '{';
  auto add = [&](std::string_view name, std::string_view text) {
    text_ += fmt::format("{}{}=\"{}\"", before, name, text);
    before = ',';
  };
  for (const auto& [name, text] : labels) add(name, escaped(text));
  if (!bound.empty()) add("le", bound);
  if (before == ',') text_ += '}';
  text_.append(" ").append(value).append("\n");
}

void MetricsText::value(Labels labels, double value) { line("", labels, "", fmt::format("{}", value)); }

void MetricsText::value(Labels labels, std::uint64_t value) { line("", labels, "", fmt::format("{}", value)); }

void MetricsText::histogram(Labels labels, std::span<const double> bounds, std::span<const std::uint64_t> counts,
                            double sum) {
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    so_far += counts[i];
    line("_bucket", labels, i < bounds.size() ? fmt::format("{}", bounds[i]) : "+Inf", fmt::format("{}", so_far));
  }
  line("_sum", labels, "", fmt::format("{}", sum));
  line("_count", labels, "", fmt::format("{}", so_far));
}

}  // namespace ff::server
