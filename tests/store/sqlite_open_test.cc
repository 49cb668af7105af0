// 07, T5 to T8: what a start refuses, and what it says then.

#include "store/store_file.h"

#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

namespace ff::test {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class Boot : public StoreFile {
 protected:
  void write(const std::string& content) const { std::ofstream(path(), std::ios::binary) << content; }

  /// Refused with this reason, and the file is as it was.
  void expect_refused(const std::string& reason, const std::string& words, OpenOptions options = {}) const {
    const std::string before = content_of(path());
    auto opened = ff::open(url(), quiet(std::move(options)));
    ASSERT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", reason));
    EXPECT_THAT(opened.error().message, HasSubstr(words));
    EXPECT_EQ(content_of(path()), before);
  }
};

}  // namespace

TEST_F(Boot, T8_a_file_that_is_no_database) {
  write(std::string(4'096, 'x'));
  expect_refused("unsafe_settings", "not a usable SQLite database");
  write("a note, shorter than any header");
  expect_refused("unsafe_settings", "not a usable SQLite database");
}

TEST_F(Boot, T8_an_empty_file_becomes_a_data_set) {
  write("");
  const Opened opened = open();
  submit(opened.fabric);
  EXPECT_THAT(faults(opened), IsEmpty());
}

TEST_F(Boot, T8_a_folder_and_a_missing_folder) {
  std::filesystem::create_directory(path());
  EXPECT_THAT(ff::open(url(), quiet()), RefusedWith(ErrorCode::store_refused, "reason", "unsafe_settings"));
  auto missing = ff::open("sqlite:" + folder_.file("nowhere/flow.db"), quiet());
  ASSERT_THAT(missing, RefusedWith(ErrorCode::store_refused, "reason", "unsafe_settings"));
  EXPECT_THAT(missing.error().message, HasSubstr("does not exist"));
}

TEST_F(Boot, T8_urls_that_name_no_store) {
  for (const char* url : {"", "sqlite:", "flow.db", "rediss://localhost", "mysql://localhost"})
    EXPECT_THAT(ff::open(url, quiet()), RefusedWith(ErrorCode::store_refused, "reason", "invalid_url")) << url;
}

TEST_F(Boot, T8_a_database_of_somebody_else_keeps_what_it_has) {
  execute("CREATE TABLE customer (name TEXT); INSERT INTO customer VALUES ('Ada');");
  const Opened opened = open();
  submit(opened.fabric);
  EXPECT_THAT(faults(opened), IsEmpty());
  EXPECT_EQ(value("SELECT name FROM customer"), "Ada");
}

TEST_F(Boot, T8_a_database_with_a_table_of_our_name) {
  execute("CREATE TABLE ff_event (mine TEXT); INSERT INTO ff_event VALUES ('untouched');");
  EXPECT_THAT(ff::open(url(), quiet()), Not(Succeeds()));
  EXPECT_EQ(value("SELECT mine FROM ff_event"), "untouched");
  EXPECT_EQ(value("SELECT count(*) FROM sqlite_master"), "1") << "nothing was left behind";
}

TEST_F(Boot, T7_a_newer_schema) {
  open().fabric.close();
  execute("INSERT INTO ff_migration_annotation VALUES (99, 'from_the_future', 0, 0)");
  auto opened = try_open();
  ASSERT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "schema_too_new"));
  EXPECT_THAT(opened.error().message, HasSubstr("99"));
  execute("DELETE FROM ff_migration_annotation WHERE version = 99");
  expect_sound();
}

TEST_F(Boot, T5_other_counts) {
  open().fabric.close();
  auto opened = try_open({.flow_partitions = 128});
  ASSERT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "dataset_mismatch"));
  EXPECT_EQ(opened.error().context.text("detail"), "flow_partitions: stored=256, config=128");
  opened = try_open({.lane_spread = 3});
  ASSERT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "dataset_mismatch"));
  EXPECT_EQ(opened.error().context.text("detail"), "lane_spread: stored=8, config=3");
  EXPECT_THAT(try_open({.flow_partitions = 0}), Refused(ErrorCode::invalid_input));
  expect_sound();
}

TEST_F(Boot, T6_engines_that_start_at_once_agree_on_one_data_set) {
  constexpr int kStarts = 6;
  std::vector<Uuid> data_sets(kStarts);
  {
    std::vector<std::jthread> starts;
    for (int i = 0; i < kStarts; ++i)
      starts.emplace_back([&, i] { data_sets[static_cast<std::size_t>(i)] = must(open().fabric.info()).data_set_id; });
  }
  for (const auto& id : data_sets) EXPECT_EQ(id, data_sets.front());
  EXPECT_EQ(value("SELECT count(*) FROM ff_dataset"), "1");
  expect_sound();
}

TEST_F(Boot, T8_a_file_that_may_only_be_read) {
  if (geteuid() == 0) {
    // Root may write everything; a folder on which nobody can is refused the same way.
    auto opened = ff::open("sqlite:/proc/flow.db", quiet());
    EXPECT_THAT(opened, AnyOf(Refused(ErrorCode::store_refused), Refused(ErrorCode::store_unavailable)));
    return;
  }
  open().fabric.close();
  chmod(path().c_str(), 0444);
  EXPECT_THAT(try_open(), Not(Succeeds()));
  chmod(path().c_str(), 0644);
  expect_sound();
}

TEST_F(Boot, what_the_store_says_of_itself) {
  const Opened opened = open();
  const FabricInfo info = must(opened.fabric.info());
  EXPECT_EQ(info.store, "sqlite");
  EXPECT_EQ(info.durability, Durability::full);
  EXPECT_THAT(info.durability_detail, HasSubstr("synchronous=FULL"));
  std::map<std::string, std::string> settings;
  for (const auto& [name, setting] : opened.engine->store().info().settings) settings[name] = setting;
  EXPECT_EQ(settings["journal_mode"], "wal");
  EXPECT_EQ(settings["synchronous"], "FULL");
  EXPECT_EQ(value("PRAGMA journal_mode"), "wal");
}

}  // namespace ff::test
