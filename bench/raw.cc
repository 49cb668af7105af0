#include "bench/raw.h"

namespace ff::bench {

Result<std::optional<double>> raw_cycles_per_s(const std::string& url, const RawOptions& options) {
  auto found = [](Result<double> raw) -> Result<std::optional<double>> {
    if (!raw) return std::unexpected(raw.error());
    return *raw;
  };
  if (url.starts_with("sqlite:")) return found(raw_sqlite(url.substr(7), options));
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) return found(raw_postgres(url, options));
  if (url.starts_with("redis:") || url.starts_with("valkey:")) return found(raw_redis(url, options));
  return std::optional<double>();
}

}  // namespace ff::bench
