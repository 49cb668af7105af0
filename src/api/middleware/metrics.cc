#include <flowfabric/metrics.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ff {
namespace {

using std::chrono::microseconds;

constexpr std::array<microseconds, 14> kBounds{
    microseconds(1'000),     microseconds(2'500),     microseconds(5'000),     microseconds(10'000),
    microseconds(25'000),    microseconds(50'000),    microseconds(100'000),   microseconds(250'000),
    microseconds(500'000),   microseconds(1'000'000), microseconds(2'500'000), microseconds(10'000'000),
    microseconds(60'000'000), microseconds(600'000'000)};

/// Names may come from whoever submits: past so many, the rest is counted together.
constexpr std::size_t kNamesMax = 256;
constexpr std::string_view kRest = "other";

double seconds(microseconds time) { return static_cast<double>(time.count()) / 1e6; }

/// A label's value as the text format wants it.
std::string label(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::span<const microseconds> DurationMetrics::bounds() { return kBounds; }

std::string DurationMetrics::bounded(std::string_view name) const {
  std::string known(name);
  return running_.contains(known) || running_.size() < kNamesMax ? known : std::string(kRest);
}

void DurationMetrics::began(std::string_view name) {
  std::lock_guard guard(mutex_);
  ++running_[bounded(name)];
}

void DurationMetrics::ended(std::string_view name, std::string_view outcome, microseconds took) {
  std::lock_guard guard(mutex_);
  const std::string known = bounded(name);
  if (auto& running = running_[known]; running > 0) --running;
  Entry& entry = entries_[{known, std::string(outcome)}];
  entry.name = known;
  entry.outcome = outcome;
  entry.within.resize(kBounds.size());
  ++entry.count;
  entry.total += took;
  entry.longest = std::max(entry.longest, took);
  for (std::size_t i = 0; i < kBounds.size(); ++i)
    if (took <= kBounds[i]) ++entry.within[i];
}

DurationMetrics::Snapshot DurationMetrics::snapshot() const {
  std::lock_guard guard(mutex_);
  Snapshot taken;
  for (const auto& [key, entry] : entries_) taken.entries.push_back(entry);
  for (const auto& [name, running] : running_)
    if (running > 0) taken.running.emplace(name, running);
  return taken;
}

std::string DurationMetrics::prometheus_text() const {
  const Snapshot taken = snapshot();
  const std::string running_name = words_.prefix + "s_running", duration = words_.prefix + "_duration_seconds";
  std::string text = fmt::format("# HELP {0} {1}.\n# TYPE {0} gauge\n", running_name, words_.running);
  for (const auto& [name, running] : taken.running)
    text += fmt::format("{}{{{}=\"{}\"}} {}\n", running_name, words_.label, label(name), running);
  text += fmt::format("# HELP {0} {1}, by what came of them.\n# TYPE {0} histogram\n", duration, words_.taken);
  for (const Entry& entry : taken.entries) {
    const std::string labels = fmt::format("{}=\"{}\",outcome=\"{}\"", words_.label, label(entry.name), entry.outcome);
    for (std::size_t i = 0; i < kBounds.size(); ++i)
      text += fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", duration, labels, seconds(kBounds[i]), entry.within[i]);
    text += fmt::format("{}_bucket{{{},le=\"+Inf\"}} {}\n", duration, labels, entry.count);
    text += fmt::format("{}_sum{{{}}} {}\n", duration, labels, seconds(entry.total));
    text += fmt::format("{}_count{{{}}} {}\n", duration, labels, entry.count);
  }
  return text;
}

}  // namespace ff
