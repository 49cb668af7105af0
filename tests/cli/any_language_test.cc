// The worker of examples/worker_in_any_language.py, against a real `ff serve`.

#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <csignal>

namespace ff::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Where a server that has just started can be reached.
std::string url_of(const Process& server) {
  std::string url;
  EXPECT_TRUE(eventually([&] {
    const std::string said = server.out();
    const std::size_t at = said.find("http://");
    if (at == said.npos || said.find('\n') == said.npos) return false;
    url = said.substr(at, said.find_first_of(",; \n", at) - at);
    return true;
  })) << server.err();
  return url;
}

TEST(WorkerInAnyLanguage, does_everything_that_a_worker_does) {
  const std::string program = FF_SOURCE_DIR "/examples/worker_in_any_language.py";
  Sandbox box;
  Process server = box.start({"serve", "--listen", "127.0.0.1:0"});
  box.environment = {"FF_URL=" + url_of(server)};
  Process worker = box.start_program({"python3", program});

  const std::string good = box.submit({"shout", "--payload", R"({"text": "hello"})"});
  box.wait_for_state(good, "completed");
  EXPECT_EQ(box.ff({"result", good}).out, R"({"text": "HELLO!"})");
  const std::string bad = box.submit({"shout", "--payload", "[]"});
  box.wait_for_state(bad, "failed");
  EXPECT_THAT(box.ff({"why", bad}).out, HasSubstr("the payload has no text"));
  EXPECT_EQ(box.ff_json({"get", bad}).at("total_attempt_count"), 1) << "no retry helps";
  ASSERT_TRUE(eventually([&] { return box.ff_json({"workers"}).as_array().size() == 1; }));
  EXPECT_EQ(box.ff_json({"workers"}).at(0).at("worker_id"), "python");

  worker.signal(SIGTERM);
  const Ended ended = worker.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(box.ff_json({"workers"}).as_array(), IsEmpty()) << "it took itself off the list";
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

}  // namespace
}  // namespace ff::test
