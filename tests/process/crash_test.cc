// A server that is killed with -9 while many callers submit, claim and complete; then another on the same store. What was
// acknowledged is there, what was completed stays so, and nothing is completed twice.

#include "process/server_process.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"

#include <atomic>
#include <csignal>
#include <map>
#include <mutex>
#include <thread>

namespace ff::test {
namespace {

constexpr int kSubmitters = 3, kWorkers = 3;
constexpr int kKills = 3;
constexpr std::size_t kCompletionsPerLife = 150;  ///< of a server, before it is killed
constexpr int kBatch = 10;
constexpr std::size_t kBacklogMax = 300;  ///< submitters do not run further ahead than this

/// What callers were told.
class Book {
 public:
  void submitted(const std::string& id) {
    std::lock_guard guard(mutex_);
    submitted_.push_back(id);
  }
  void completed(const std::string& id) {
    std::lock_guard guard(mutex_);
    ++completions_[id];
  }
  std::size_t completion_count() const {
    std::lock_guard guard(mutex_);
    return completions_.size();
  }
  std::size_t backlog() const {
    std::lock_guard guard(mutex_);
    return submitted_.size() - std::min(submitted_.size(), completions_.size());
  }
  /// To be read when nobody writes any more.
  const std::vector<std::string>& submissions() const { return submitted_; }
  const std::map<std::string, int>& completions() const { return completions_; }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> submitted_;
  std::map<std::string, int> completions_;
};

std::string text(const json::value& value) { return std::string(value.as_string()); }

/// Submits one by one and ten at a time until told to stop, or until nobody answers.
void submit(const std::string& url, const std::string& name, Book& book, const std::atomic<bool>& ends) {
  HttpClient http(url);
  for (int i = 0; !ends; ++i) {
    while (!ends && book.backlog() > kBacklogMax) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::string one = R"({"execution_kind":"job","payload":{"from":")" + name + R"(","number":)" + std::to_string(i) + "}}";
    std::string body = one;
    if (i % 2 == 1) {
      body = R"({"items":[)";
      for (int j = 0; j < kBatch; ++j) body += (j > 0 ? "," : "") + one;
      body += "]}";
    }
    const Told answer = told(http.call("POST", "/v1/executions", body));
    if (answer.status == 0) return;
    if (answer.status == 201) {
      book.submitted(answer.text_at("execution_id"));
    } else if (answer.status == 200) {
      for (const json::value& item : answer.at("items").as_array())
        if (item.at("status") == 201) book.submitted(text(item.at("result").at("execution_id")));
    } else {
      ADD_FAILURE() << answer.status << answer.text;
    }
  }
}

/// Claims and completes; the lease is short, so that tasks of a dead life are soon another's.
void work(const std::string& url, const std::string& instance, Book& book, const std::atomic<bool>& ends) {
  HttpClient http(url);
  const std::string claim = claim_body(instance, R"(,"max":5,"wait_ms":200,"lease_ttl_ms":2000)");
  while (!ends) {
    const Told claimed = told(http.call("POST", "/v1/worker/claim", claim));
    if (claimed.status == 0) return;
    if (claimed.status != 200) {
      ADD_FAILURE() << claimed.status << claimed.text;
      return;
    }
    for (const json::value& task : claimed.at("tasks").as_array()) {
      const Told done = told(http.call("POST", "/v1/worker/complete", handle_body(text(task.at("handle")), R"(,"result":1)")));
      if (done.status == 0) return;
      if (done.status == 200) book.completed(text(task.at("execution").at("execution_id")));
      // A slow machine may let a lease run out; then the task is another's.
      else
        EXPECT_EQ(done.status, 409) << done.text;
    }
  }
}

/// Starts callers of both kinds; they end when nobody answers or when told to.
class Load {
 public:
  Load(const std::string& url, const std::string& life, Book& book, bool submits) {
    for (int i = 0; submits && i < kSubmitters; ++i)
      threads_.emplace_back([=, this, &book] { submit(url, life + "s" + std::to_string(i), book, ends_); });
    for (int i = 0; i < kWorkers; ++i)
      threads_.emplace_back([=, this, &book] { work(url, life + "w" + std::to_string(i), book, ends_); });
  }
  ~Load() { end(); }
  void end() {
    ends_ = true;
    threads_.clear();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::vector<std::jthread> threads_;
};

int count_waiting(const ServerProcess& server) {
  int open = 0;
  for (const char* state : {"waiting", "delayed", "active"})
    open += static_cast<int>(server.get(std::string("/v1/executions?limit=1&state=") + state).at("items").as_array().size());
  return open;
}

void expect_each_acknowledged_call_counts_once(const ServerProcess& server, const Book& book) {
  HttpClient http = server.client();
  for (const std::string& id : book.submissions()) {
    const Told execution = told(http.call("GET", path_of(id)));
    ASSERT_EQ(execution.status, 200) << id << " was acknowledged: " << execution.text;
    EXPECT_EQ(execution.text_at("public_state"), "completed") << id;
    const Told history = told(http.call("GET", path_of(id, "/history?limit=500")));
    int completions = 0;
    for (const json::value& event : history.at("items").as_array())
      completions += event.at("kind") == "completion" ? 1 : 0;
    EXPECT_EQ(completions, 1) << id << history.text;
  }
  for (const auto& [id, count] : book.completions()) EXPECT_EQ(count, 1) << id << " was completed by two workers";
}

void survive_kills(const Sandbox& box, const std::string& store) {
  Book book;
  std::size_t killed_with = 0;
  for (int life = 0; life < kKills; ++life) {
    ServerProcess server(box, {"--store", store});
    Load load(server.url(), "l" + std::to_string(life), book, true);
    EXPECT_TRUE(eventually([&] { return book.completion_count() >= killed_with + kCompletionsPerLife; }));
    server.kill();
    load.end();
    killed_with = book.completion_count();
  }
  ServerProcess server(box, {"--store", store});
  HttpClient http = server.client();
  // What was completed is so at once, whatever else is still to be done.
  for (const auto& [id, count] : book.completions())
    EXPECT_EQ(told(http.call("GET", path_of(id))).text_at("public_state"), "completed") << id;
  Load rest(server.url(), "rest", book, false);
  EXPECT_TRUE(eventually([&] { return count_waiting(server) == 0; }));
  rest.end();
  EXPECT_GT(book.submissions().size(), kKills * kCompletionsPerLife / 2);
  expect_each_acknowledged_call_counts_once(server, book);
  EXPECT_EQ(server.get("/readyz").status, 200);
  EXPECT_THAT(server.log(), Not(HasSubstr(R"("level":"error")")));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
  EXPECT_EQ(box.ff({"check", "--store", store}).code, 0);
}

TEST(ProcessCrash, on_sqlite) {
  Sandbox box;
  survive_kills(box, "sqlite:" + box.path("flow.db").string());
}

TEST(ProcessCrash, on_postgres) {
  Sandbox box;
  PostgresServer postgres(true);
  survive_kills(box, postgres.url("ff_killed"));
}

TEST(ProcessCrash, on_redis) {
  Sandbox box;
  RedisServer redis({"--appendonly", "yes", "--appendfsync", "always"});
  survive_kills(box, redis.url());
}

}  // namespace
}  // namespace ff::test
