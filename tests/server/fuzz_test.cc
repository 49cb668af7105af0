// Requests made by chance, from a seed: whatever comes, there is one answer, it is documented, and it is never a fault of
// ours. FF_FUZZ_SEED repeats one run.

#include "server/server_world.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

namespace ff::test {
namespace {

constexpr auto kFor = std::chrono::seconds(60);

class ServerFuzz : public ServerTest {
 protected:
  std::size_t pick(std::size_t bound) { return random_() % bound; }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[pick(of.size())];
  }

  /// A value that may be right, nearly right, or nonsense.
  std::string value(const std::string& field, int depth = 2) {
    if (pick(3) == 0 && field.find("handle") != field.npos && !handles_.empty()) return "\"" + any(handles_) + "\"";
    if (pick(2) == 0 && field == "execution_id" && !ids_.empty()) return "\"" + any(ids_) + "\"";
    switch (pick(depth > 0 ? 14 : 11)) {
      case 0: return "null";
      case 1: return "true";
      case 2: return std::to_string(pick(3));
      case 3: return "-1";
      case 4: return "18446744073709551615";
      case 5: return "1.5";
      case 6: return "1e999";
      case 7: return any<std::string>({"\"\"", "\"default\"", "\"job\"", "\"w1\"", "\"a b\"", "\"\\u0000\"", "\"\\ud800\""});
      case 8: return "\"" + std::string(pick(600), 'x') + "\"";
      case 9: return "{\"base64\":\"AA==\"}";
      case 10: return R"({"base64":)" + std::string(40, '[') + std::string(40, ']') + "}";
      case 11: return "[" + value(field, depth - 1) + "," + value(field, depth - 1) + "]";
      case 12: return "{\"" + any(names_) + "\":" + value(field, depth - 1) + "}";
      default: return "[" + value(field, depth - 1) + "]";
    }
  }
  std::string object(const server::Route& route, int depth = 1) {
    if (depth > 0 && pick(6) == 0) return "{\"items\":[" + object(route, 0) + "," + object(route, 0) + "]}";
    std::string out = "{";
    std::size_t count = 0;
    for (const auto& field : route.fields(schemas_)) {
      const bool in_path = route.pattern.find("{" + field.name + "}") != route.pattern.npos;
      if (pick(3) != 0 && !(field.required && !in_path)) continue;
      out += (count++ ? "," : "") + fmt::format("\"{}\":", field.name) + value(field.name);
    }
    if (pick(8) == 0) out += (count ? "," : "") + fmt::format("\"{}\":1", any(names_));
    return out + "}";
  }
  std::string target(const server::Route& route) {
    std::string out;
    for (const auto& part : server::pattern_parts(route.pattern)) {
      out += "/";
      if (!part.is_field) out += part.text;
      else if (pick(6) == 0) out += any<std::string>({"x", "%", "%00", "%ff", "..", "{fp:0}", "%2F"});
      else if (part.text == "execution_id" && !ids_.empty()) out += server::percent_encoded(any(ids_));
      else out += "default";
    }
    if (pick(3) == 0)
      out += "?" + any(names_) + "=" + any<std::string>({"", "1", "-1", "x", "%", "%zz", "9999999999999999999999", "waiting"});
    return out;
  }
  Request request() {
    const server::Route& route = any(server::routes());
    Request made = json_request(pick(20) == 0 ? any(methods_) : std::string(route.method), target(route), "");
    if (route.body != server::Body::none || pick(10) == 0) made.body = object(route);
    if (pick(10) == 0 && !made.body.empty()) made.body[pick(made.body.size())] = static_cast<char>(pick(256));
    if (pick(20) == 0) made.body.resize(made.body.size() / 2);
    if (pick(20) != 0) made.headers.emplace_back("Content-Type", "application/json");
    if (pick(10) == 0) made.headers.emplace_back("Idempotency-Key", any<std::string>({"", "k", "l", "\x01"}));
    if (pick(10) == 0) made.headers.emplace_back("Range", any<std::string>({"bytes=0-0", "bytes=-", "bytes=9-1", "x"}));
    return made;
  }
  /// Remembers what later requests can use.
  void learn(const Got& got) {
    if (!got.body.is_object()) return;
    if (const json::value* id = got.body.as_object().if_contains("execution_id")) ids_.emplace_back(id->as_string());
    if (const json::value* tasks = got.body.as_object().if_contains("tasks"))
      for (const auto& task : tasks->as_array()) handles_.emplace_back(task.at("handle").as_string());
  }

  std::mt19937_64 random_;
  server::Schemas schemas_;
  std::vector<std::string> ids_, handles_;
  const std::vector<std::string> names_ = {"limit", "cursor", "wait_ms", "state", "tag.a", "sort", "items", "x", "policy",
                                           "base64", "execution_id", "lane"};
  const std::vector<std::string> methods_ = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "", "get"};

  /// Some requests wait for something to happen, and time stands still unless it is moved.
  Got answer_to(const Request& made) {
    auto [pending, future] = start(made);
    while (future.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) advance(60'000);
    return future.get();
  }
};

TEST_F(ServerFuzz, whatever_comes_there_is_one_documented_answer) {
  const char* given = std::getenv("FF_FUZZ_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE(fmt::format("FF_FUZZ_SEED={}", seed));
  std::cout << "FF_FUZZ_SEED=" << seed << std::endl;  // at once: a crash prints nothing more
  random_.seed(seed);
  for (int i = 0; i < 4; ++i) ids_.push_back(created());
  std::map<int, int> statuses;
  int requests = 0;
  for (const auto end = std::chrono::steady_clock::now() + kFor; std::chrono::steady_clock::now() < end; ++requests) {
    const Request made = request();
    const Got got = answer_to(made);
    ++statuses[got.status];
    ASSERT_TRUE(got.status != 500 && got.status != 0) << made.method << " " << made.target << "\n" << made.body << "\n" << got.text;
    ASSERT_FALSE(got.header("x-request-id").empty());
    learn(got);
    if (HasFailure()) FAIL() << made.method << " " << made.target << "\n" << made.body << "\n" << got.text;
    if (ids_.size() > 50) ids_.erase(ids_.begin());
    if (pick(50) == 0) advance(static_cast<TimeMs>(pick(3'000)));
  }
  EXPECT_GT(requests, 200);
  EXPECT_GT(statuses[200] + statuses[201], 0);
  EXPECT_GT(statuses[400], 0);
  EXPECT_THAT(log, IsEmpty());
  EXPECT_THAT(faults(), IsEmpty());
}

}  // namespace
}  // namespace ff::test
