#include "client/call.h"

#include <gtest/gtest.h>

namespace ff::client {
namespace {

CallPtr call(std::string body, bool alone = false) {
  auto made = std::make_shared<Call>();
  made->wire.body = std::move(body);
  made->alone = alone;
  return made;
}

/// The sizes of the requests that these calls make.
std::vector<std::size_t> sizes(Gathering& gathering, std::size_t items_max, std::size_t bytes_max) {
  std::vector<std::size_t> all;
  while (!gathering.empty()) all.push_back(gathering.take(items_max, bytes_max).size());
  return all;
}

TEST(ClientGathering, so_many_items_make_a_request) {
  Gathering gathering;
  for (int i = 0; i < 7; ++i) gathering.add(call("{}"));
  EXPECT_EQ(sizes(gathering, 3, 1'000), (std::vector<std::size_t>{3, 3, 1}));
}

TEST(ClientGathering, a_request_stays_below_its_bytes) {
  Gathering gathering;
  for (std::size_t size : {40, 40, 40, 500, 10}) gathering.add(call(std::string(size, 'x')));
  EXPECT_EQ(sizes(gathering, 1'000, 100), (std::vector<std::size_t>{2, 1, 1, 1})) << "one that is too large goes alone";
  for (int i = 0; i < 1'000; ++i) gathering.add(call(std::string(300, 'x')));
  while (!gathering.empty()) EXPECT_LE(batch_body(BatchRoute::create, gathering.take(1'000, 4'096)).size(), 4'096U);
}

TEST(ClientGathering, who_has_to_go_alone_does) {
  Gathering gathering;
  for (bool alone : {false, false, true, true, false}) gathering.add(call("{}", alone));
  EXPECT_EQ(sizes(gathering, 1'000, 1'000), (std::vector<std::size_t>{2, 1, 1, 1}));
}

TEST(ClientGathering, bodies) {
  EXPECT_EQ(batch_body(BatchRoute::create, {call("{\"a\":1}")}), "{\"a\":1}");
  EXPECT_EQ(batch_body(BatchRoute::cancel, {call("{\"a\":1}")}), "{\"items\":[{\"a\":1}]}") << "a route for many only";
  EXPECT_EQ(batch_body(BatchRoute::create, {call("{\"a\":1}"), call("{}")}), "{\"items\":[{\"a\":1},{}]}");
}

}  // namespace
}  // namespace ff::client
