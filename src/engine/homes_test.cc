#include "engine/homes.h"

#include "core/ids.h"

#include <gtest/gtest.h>

namespace ff::engine {
namespace {

ExecutionId id_of(std::uint64_t number) {
  core::IdSource ids(number, number + 1);
  return {static_cast<std::uint16_t>(number % 256), ids.next(1'000)};
}

TEST(Homes, an_execution_is_where_its_lease_was_given) {
  Homes homes(3);
  EXPECT_EQ(homes.of(id_of(1)), std::nullopt);
  homes.leased(id_of(1), 0);
  homes.leased(id_of(2), 2);
  EXPECT_EQ(homes.of(id_of(1)), 0U);
  EXPECT_EQ(homes.of(id_of(2)), 2U);
  homes.leased(id_of(1), 1);
  EXPECT_EQ(homes.of(id_of(1)), 1U) << "the newest lease";
  EXPECT_EQ(homes.of(id_of(3)), std::nullopt);
}

TEST(Homes, with_one_executor_nothing_is_remembered) {
  Homes homes(1);
  homes.leased(id_of(1), 0);
  EXPECT_EQ(homes.of(id_of(1)), std::nullopt);
}

TEST(Homes, more_than_there_is_room_for_push_out_others_and_are_never_mistaken_for_them) {
  Homes homes(200);
  constexpr std::uint64_t kMany = 100'000;
  for (std::uint64_t i = 0; i < kMany; ++i) homes.leased(id_of(i), i % 200);
  std::uint64_t known = 0;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const auto home = homes.of(id_of(i));
    if (!home) continue;
    ++known;
    ASSERT_EQ(*home, i % 200) << i;
  }
  EXPECT_GT(known, 20'000U);
  EXPECT_LE(known, 32'768U);
}

}  // namespace
}  // namespace ff::engine
