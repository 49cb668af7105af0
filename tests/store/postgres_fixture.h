#pragma once

#include "engine/engine.h"
#include "store/postgres/postgres_store.h"
#include "support/matchers.h"
#include "support/postgres_server.h"
#include "support/store_under_test.h"
#include "support/world.h"

#include <gtest/gtest.h>

namespace ff::test {

/// A schema of its own on a server of this program, and stores and fabrics on it.
class OnPostgres : public ::testing::Test {
 protected:
  OnPostgres() : OnPostgres(PostgresServer::shared()) {}
  explicit OnPostgres(PostgresServer& of) : server(of), schema(of.new_schema()) {}
  ~OnPostgres() override { server.drop_schema(schema); }

  std::string url() const { return server.url(schema); }
  /// The same server, by way of somebody who listens there.
  std::string url_by(int port) const {
    return "postgres://ff@127.0.0.1:" + std::to_string(port) + "/postgres?schema=" + schema;
  }

  static store::StoreOptions options() {
    store::StoreOptions made;
    made.allow_unsafe = true;  // the shared server does not wait for the disk
    return made;
  }
  Result<std::unique_ptr<store::Store>> open_store() { return store::open_postgres(url(), options()); }
  Opened open(OpenOptions with = {}, store::StoreOptions of_store = options()) {
    auto store = store::open_postgres(url(), of_store);
    if (!store) throw std::runtime_error(store.error().to_string());
    with.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
    auto opened = open_embedded(std::move(*store), std::move(with));
    if (!opened) throw std::runtime_error(opened.error().to_string());
    return std::move(*opened);
  }
  /// One value of the schema's tables.
  std::string value(const std::string& query) {
    const auto values = server.run("SET search_path = " + schema + "; " + query);
    return values.empty() ? "" : values.front();
  }

  PostgresServer& server;
  std::string schema;
};

}  // namespace ff::test
