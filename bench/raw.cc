#include "bench/raw.h"

namespace ff::bench {

Result<std::unique_ptr<RawQueue>> open_raw(const std::string& url, const RawOptions& options) {
  if (url.starts_with("sqlite:")) return open_raw_sqlite(url.substr(7), options);
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) return open_raw_postgres(url, options);
  if (url.starts_with("redis:") || url.starts_with("valkey:")) return open_raw_redis(url, options);
  return nullptr;
}

}  // namespace ff::bench
