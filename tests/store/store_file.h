#pragma once

// What only a store on disk can show. A case ends with a look at everything that is stored.

#include "support/matchers.h"
#include "support/store_under_test.h"

struct sqlite3;

namespace ff::test {

/// One SQLite file, engines on it, and a way in behind their backs.
class StoreFile : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("flow.db"); }
  std::string url() const { return "sqlite:" + path(); }

  /// An engine as a process would have it, on the machine's clock unless a clock is given. Quiet.
  static OpenOptions quiet(OpenOptions options = {});
  Result<Opened> try_open(OpenOptions options = {}) const;
  Opened open(OpenOptions options = {}) const { return must(try_open(std::move(options))); }

  /// Runs SQL on the file as another program would.
  void execute(const std::string& sql) const;
  std::string value(const std::string& sql) const;

  static std::vector<std::string> faults(const Opened& opened);
  /// The file is sound, seen by an engine that opens it now.
  void expect_sound() const;

  static ExecutionId submit(const Fabric& fabric, const std::string& payload = "{}");
  static ClaimedTask claim(const Fabric& fabric);

  TempFolder folder_;
};

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

}  // namespace ff::test
