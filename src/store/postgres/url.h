#pragma once

#include <flowfabric/error.h>

#include <string>

namespace ff::store::postgres {

/// A store URL, taken apart: what libpq understands, and what is ours.
struct Target {
  std::string conninfo;  ///< for libpq; may hold a password and is never printed
  std::string schema;    ///< where our tables stand; default `public`
  std::string shown;     ///< hosts and database, for people
};

/// Reads `postgres://...` or `postgresql://...` with any of libpq's parameters (several hosts too) and `schema`.
/// `store_refused` with reason `invalid_url` when libpq cannot read it.
Result<Target> parse_url(const std::string& url);

}  // namespace ff::store::postgres
