// A new file is opened by several at the same moment: one makes it, the others find it made.

#include <flowfabric/fabric.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <barrier>
#include <filesystem>
#include <thread>

namespace ff {
namespace {

TEST(OpenAtOnce, everybody_gets_the_same_new_data_set) {
  constexpr int kOpeners = 6;
  constexpr int kRounds = 10;
  const auto folder = std::filesystem::temp_directory_path() / ("ff-open-at-once-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (int round = 0; round < kRounds; ++round) {
    const std::string url = "sqlite:" + (folder / (std::to_string(round) + ".db")).string();
    std::barrier start(kOpeners);
    std::vector<std::string> data_sets(kOpeners);
    {
      std::vector<std::jthread> openers;
      for (auto& data_set : data_sets)
        openers.emplace_back([&] {
          start.arrive_and_wait();
          auto fabric = open(url);
          data_set = fabric ? fabric->info().value().data_set_id.to_string() : fabric.error().to_string();
        });
    }
    for (const auto& data_set : data_sets) EXPECT_EQ(data_set, data_sets.front()) << "round " << round;
    EXPECT_EQ(data_sets.front().size(), 36U) << data_sets.front();
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ff
