// A store that was made by any earlier version is brought up to date by the steps that it has not had: one that was
// released must stay as it is, to the letter.

#include "store/migrations.h"

#include "core/hash.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ff::store {
namespace {

using Steps = std::vector<std::string>;

/// Each step with a hash of its text.
Steps steps_of(std::span<const Migration> migrations) {
  Steps steps;
  for (const auto& step : migrations)
    steps.push_back(fmt::format("{} {} {:016x}", step.version, step.name, core::fnv1a64(step.sql)));
  return steps;
}

TEST(Migrations, steps_of_sqlite_that_were_released_are_as_they_were) {
  EXPECT_EQ(steps_of(sqlite::migrations()),
            (Steps{"1 foundation 7d2cef7642e21894", "2 views 647849e57f64b3a3", "3 operator_events 83c1d9923818b52a",
                   "4 documents 78ea0c10b2ebbba0", "5 raised caa6ac6d6eee4ad7"}))
      << "add a step instead";
}

TEST(Migrations, steps_of_postgres_that_were_released_are_as_they_were) {
  EXPECT_EQ(steps_of(postgres::migrations()),
            (Steps{"1 foundation 4bf2585006dfa3ca", "2 views e1fb362f81bb61c1", "3 documents b565a72e35c3b2d0",
                   "4 raised 83945d68152771c0", "5 room_for_versions 672fad94c7f02709",
                   "6 less_index_work de30a27bd77bcab8", "7 no_statistics 7300b2c9a5e1475b"}))
      << "add a step instead";
}

}  // namespace
}  // namespace ff::store
