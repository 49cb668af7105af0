// `ff dev`: something to look at, which leaves nothing behind.

#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <csignal>

namespace ff::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// What it says of itself.
boost::json::value introduced(const Process& dev) {
  boost::json::value said;
  EXPECT_TRUE(eventually([&] {
    const auto lines = lines_of(dev.out());
    if (lines.empty()) return false;
    said = boost::json::parse(lines[0]);
    return true;
  })) << dev.err();
  return said;
}

TEST(CliDev, shows_work_and_throws_it_away) {
  Sandbox box;
  Process dev = box.start({"--json", "dev", "--listen", "127.0.0.1:0"});
  const auto said = introduced(dev);
  EXPECT_THAT(std::string(said.at("url").as_string()), StartsWith("http://127.0.0.1:"));
  const std::string store(said.at("store").as_string());
  EXPECT_TRUE(eventually([&] {
    return box.ff_json({"--store", store, "list", "--state", "completed"}).at("items").as_array().size() >= 2;
  }));
  EXPECT_TRUE(eventually([&] { return box.ff_json({"--store", store, "workers"}).as_array().size() == 2; }));
  const auto waiting = box.ff_json({"--store", store, "list", "--kind", "train"}).at("items");
  ASSERT_EQ(waiting.as_array().size(), 1U);
  EXPECT_THAT(box.ff({"--store", store, "why", std::string(waiting.at(0).at("execution_id").as_string())}).out,
              HasSubstr("gpu"));
  dev.signal(SIGINT);
  EXPECT_EQ(dev.wait().code, 0);
  EXPECT_FALSE(std::filesystem::exists(store.substr(store.find(':') + 1)));
}

TEST(CliDev, ends_when_it_was_told_to) {
  Sandbox box;
  const Ended ended = box.ff({"dev", "--listen", "127.0.0.1:0", "--seconds", "1"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("FlowFabric is at http://127.0.0.1:"), HasSubstr("/docs"), HasSubstr("ff workers")));
  EXPECT_THAT(ended.err, HasSubstr("Ctrl-C"));
}

TEST(CliDev, wrong_addresses) {
  Sandbox box;
  EXPECT_EQ(box.ff({"dev", "--listen", "nowhere"}).code, 2);
  EXPECT_EQ(box.ff({"dev", "--listen", "0.0.0.0:0"}).code, 4) << "only for this machine";
}

}  // namespace
}  // namespace ff::test
