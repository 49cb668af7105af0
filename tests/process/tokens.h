#pragma once

// The tokens of a data set, made and revoked as an operator does it: at the store, beside running servers.

#include "api/embedded.h"

#include <flowfabric/flowfabric.h>

namespace ff::test {

class Tokens {
 public:
  explicit Tokens(const std::string& store_url);
  ~Tokens();
  Tokens(const Tokens&) = delete;

  /// The text of a new one.
  std::string create(std::vector<std::string> scopes, std::optional<std::string> namespace_ = std::nullopt,
                     std::optional<std::uint64_t> ttl_ms = std::nullopt);
  void revoke(const std::string& text);

  const Fabric& fabric() const { return fabric_; }

 private:
  engine::Engine& engine() const;

  Fabric fabric_;
};

}  // namespace ff::test
