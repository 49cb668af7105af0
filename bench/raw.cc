#include "bench/raw.h"

namespace ff::bench {

Result<std::optional<double>> raw_cycles_per_s(const std::string& url, const RawOptions& options) {
  auto found = [](Result<double> raw) -> Result<std::optional<double>> {
    if (!raw) return std::unexpected(raw.error());
    return *raw;
  };
  if (url.starts_with("sqlite:")) return found(raw_sqlite(url.substr(7), options));
  return std::optional<double>();
}

}  // namespace ff::bench
