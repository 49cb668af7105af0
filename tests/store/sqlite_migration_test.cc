// 07, T7: a data set of an older program is brought up to date once, with everything in it.

#include "store/migrations.h"
#include "store/store_file.h"
#include "support/old_file.h"

#include <thread>

namespace ff::test {
namespace {

class Migrations : public StoreFile {
 protected:
  void make(int version) const { make_old_file(path(), version); }
  static int newest() { return store::sqlite::migrations().back().version; }
};

}  // namespace

TEST_F(Migrations, T7_from_every_version_to_the_newest) {
  for (int version = 1; version <= newest(); ++version) {
    for (const char* suffix : {"", "-wal", "-shm", "-peers"}) std::filesystem::remove(path() + suffix);
    make(version);
    const Opened opened = open();
    const auto info = opened.engine->store().info();
    EXPECT_EQ(info.schema_version_found, version);
    ASSERT_EQ(info.schema.size(), static_cast<std::size_t>(newest()));
    EXPECT_EQ(info.schema.front().applied_at_ms, 5);
    submit(opened.fabric);
    must(opened.fabric.complete({.handle = claim(opened.fabric).handle}));
    EXPECT_EQ(value("SELECT count(*) FROM ff_completion_event"), "1");
    EXPECT_THAT(faults(opened), IsEmpty());
    opened.fabric.close();
  }
}

/// What a new file and a migrated one hold is the same.
TEST_F(Migrations, T7_an_old_file_ends_like_a_new_one) {
  auto schema = [&] {
    return value("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY name)");
  };
  open().fabric.close();
  const std::string fresh = schema();
  for (const char* suffix : {"", "-wal", "-shm", "-peers"}) std::filesystem::remove(path() + suffix);
  make(1);
  open().fabric.close();
  auto without = [](std::string text, std::string_view part) {
    if (const auto at = text.find(part); at != std::string::npos) text.erase(at, part.size());
    return text;
  };
  EXPECT_EQ(without(schema(), " IF NOT EXISTS"), without(fresh, " IF NOT EXISTS"));
}

TEST_F(Migrations, T7_an_old_file_is_refused_without_auto_migrate) {
  make(1);
  auto refused = try_open({.auto_migrate = false});
  ASSERT_THAT(refused, RefusedWith(ErrorCode::store_refused, "reason", "version_unsupported"));
  EXPECT_THAT(refused.error().message, HasSubstr("ff migrate"));
  EXPECT_EQ(value("SELECT max(version) FROM ff_migration_annotation"), "1");
  open().fabric.close();
  EXPECT_THAT(try_open({.auto_migrate = false}), Succeeds()) << "it is up to date now";
}

TEST_F(Migrations, T7_of_two_starts_one_migrates) {
  make(1);
  {
    std::vector<std::jthread> starts;
    for (int i = 0; i < 4; ++i) starts.emplace_back([this] { open().fabric.close(); });
  }
  EXPECT_EQ(value("SELECT count(*) FROM ff_migration_annotation"), std::to_string(newest()));
  expect_sound();
}

}  // namespace ff::test
