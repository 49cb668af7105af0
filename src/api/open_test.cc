#include "api/embedded.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include <sqlite3.h>

namespace ff {
namespace {

namespace fs = std::filesystem;

class OpenSqlite : public testing::Test {
 protected:
  OpenSqlite() {
    folder_ = fs::temp_directory_path() / ("ff-open-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    path_ = folder_ / "flow.db";
  }
  ~OpenSqlite() override { fs::remove_all(folder_); }

  std::string url() const { return "sqlite:" + path_.string(); }

  fs::path folder_;
  fs::path path_;
};

TEST_F(OpenSqlite, stored_counts_are_accepted_on_request_only) {
  ASSERT_TRUE(open(url(), {.flow_partitions = 16, .lane_spread = 2}));

  auto refused = open(url());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context.text("reason"), "dataset_mismatch");

  auto accepted = open(url(), {.accept_stored_counts = true});
  ASSERT_TRUE(accepted);
  EXPECT_EQ(accepted->info()->flow_partitions, 16U);
  EXPECT_EQ(accepted->info()->lane_spread, 2U);
  auto submitted = accepted->submit({.execution_kind = "k"});
  ASSERT_TRUE(submitted);
  EXPECT_LT(submitted->execution_id.partition, 16);
}

TEST_F(OpenSqlite, a_missing_database_is_not_made_when_told_so) {
  auto refused = open(url(), {.create = false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::store_refused);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(OpenSqlite, a_foreign_database_is_left_as_it_is_when_told_so) {
  sqlite3* foreign = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &foreign), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(foreign, "CREATE TABLE mine (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(foreign);
  auto content = [&] {
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = content();

  auto refused = open(url(), {.create = false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::store_refused);
  EXPECT_EQ(content(), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(OpenSqlite, no_lane_is_registered_by_a_program_that_creates_nothing) {
  ASSERT_TRUE(open(url(), {.lanes = {"work"}}));
  auto fabric = open(url(), {.lanes = {"other"}, .create = false});
  ASSERT_TRUE(fabric);
  fabric->close();
  auto lanes = open(url(), {.create = false})->lanes();
  ASSERT_TRUE(lanes);
  ASSERT_EQ(lanes->items.size(), 1U);
  EXPECT_EQ(lanes->items[0].lane.lane_id, "work");
}

TEST_F(OpenSqlite, the_schema_tells_which_steps_it_went_through) {
  auto schema = [&] {
    auto fabric = open(url());
    return dynamic_cast<api::EmbeddedBackend&>(*fabric->backend()).engine().store().info();
  };
  const auto fresh = schema();
  EXPECT_EQ(fresh.schema_version_found, 0);
  ASSERT_FALSE(fresh.schema.empty());
  EXPECT_EQ(fresh.schema.front().name, "foundation");
  EXPECT_EQ(schema().schema_version_found, fresh.schema.back().version);
}

TEST_F(OpenSqlite, the_last_fabric_may_be_let_go_of_in_a_callback) {
  auto opened = open(url());
  ASSERT_TRUE(opened);
  auto kept = std::make_shared<Fabric>(*opened);
  opened = Fabric();
  std::promise<void> alone, gone;
  const Fabric& fabric = *kept;
  fabric.submit({.execution_kind = "k"}, [kept, &alone, &gone](const auto&) mutable {
    alone.get_future().wait();
    kept.reset();
    gone.set_value();
  });
  kept.reset();
  alone.set_value();
  gone.get_future().wait();
  auto again = open(url());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->list({})->items.size(), 1U);
}

TEST_F(OpenSqlite, a_callback_may_close_the_fabric) {
  auto fabric = open(url());
  ASSERT_TRUE(fabric);
  std::promise<void> closed;
  fabric->submit({.execution_kind = "k"}, [&](const auto&) {
    fabric->close();
    closed.set_value();
  });
  closed.get_future().wait();
  while (fabric->submit({.execution_kind = "k"})) {
  }
}

}  // namespace
}  // namespace ff
