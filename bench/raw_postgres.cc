#include "bench/raw.h"
#include "store/postgres/connection.h"

#include <unistd.h>

#include <atomic>
#include <thread>

namespace ff::bench {
namespace {

using namespace std::chrono_literals;
using store::postgres::ByteaArray;
using store::postgres::Connection;
using store::postgres::Int8Array;
using store::postgres::Params;
using store::postgres::Rows;
using store::postgres::Sql;
using store::postgres::Target;

constexpr auto kConnectMax = 10s;

constexpr Sql kInsert{"raw_insert", "INSERT INTO job (state, payload) SELECT 0, p FROM unnest($1::bytea[]) AS p"};
constexpr Sql kTake{"raw_take",
                    "UPDATE job SET state = 1 WHERE id = ANY(ARRAY(SELECT id FROM job WHERE state = 0 ORDER BY id "
                    "LIMIT $1::bigint FOR UPDATE SKIP LOCKED)) RETURNING id, payload"};
constexpr Sql kFinish{"raw_finish", "UPDATE job SET state = 2 WHERE id = ANY($1::bigint[])"};

/// What the connections of one measurement do together: everybody submits, then everybody works.
class PostgresQueue final : public RawQueue {
 public:
  PostgresQueue(Target target, std::uint32_t payload_bytes)
      : target_(std::move(target)), payload_(payload_bytes, 'x') {}
  ~PostgresQueue() override {
    if (!connections_.empty())
      (void)connections_.front().execute(fmt::format("DROP SCHEMA {} CASCADE", target_.schema));
  }

  Result<void> open(std::uint32_t connections) {
    connections_.reserve(connections);
    for (std::uint32_t i = 0; i < connections; ++i) {
      Connection& connection = connections_.emplace_back(target_, store::postgres::SessionSettings{});
      if (auto opened = connection.open(kConnectMax); !opened) return std::unexpected(opened.error());
    }
    auto made = connections_.front().execute(
        fmt::format("CREATE SCHEMA {}; CREATE TABLE job (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
                    "state smallint NOT NULL, payload bytea); CREATE INDEX job_waiting ON job (id) WHERE state = 0",
                    target_.schema));
    if (!made) return std::unexpected(made.error());
    return {};
  }

  Result<void> cycle(std::uint64_t executions) override {
    executions_ = executions;
    submitted_ = finished_ = 0;
    for (auto part : {&PostgresQueue::submit, &PostgresQueue::work}) {
      std::vector<std::thread> threads;
      for (auto& connection : connections_) threads.emplace_back([&] { (this->*part)(connection); });
      for (auto& thread : threads) thread.join();
    }
    if (failed_) return std::unexpected(error_);
    return {};
  }

 private:
  void submit(Connection& connection) {
    while (!failed_) {
      const std::uint64_t from = submitted_.fetch_add(kRawBatch);
      if (from >= executions_) return;
      ByteaArray payloads;
      for (std::uint64_t i = 0; i < std::min(kRawBatch, executions_ - from); ++i)
        payloads.add(std::string_view(payload_));
      run(connection, kInsert, Params().array(payloads));
    }
  }

  void work(Connection& connection) {
    while (!failed_ && finished_ < executions_) {
      Rows taken = run(connection, kTake, Params().number(static_cast<std::int64_t>(kRawBatch)));
      Int8Array ids;
      for (int row = 0; row < taken.size(); ++row) ids.add(taken.number(row, 0));
      if (ids.empty()) continue;  // the rest is in the hands of others
      run(connection, kFinish, Params().array(ids));
      finished_ += static_cast<std::uint64_t>(taken.size());
    }
  }

  Rows run(Connection& connection, const Sql& sql, Params params) {
    auto rows = connection.query(sql, std::move(params));
    if (rows) return std::move(*rows);
    if (!failed_.exchange(true)) error_ = rows.error();
    return {};
  }

  const Target target_;
  const std::string payload_;
  std::vector<Connection> connections_;
  std::uint64_t executions_ = 0;
  std::atomic<std::uint64_t> submitted_ = 0, finished_ = 0;
  std::atomic<bool> failed_ = false;
  Error error_;
};

}  // namespace

Result<std::unique_ptr<RawQueue>> open_raw_postgres(const std::string& url, const RawOptions& options) {
  auto target = store::postgres::parse_url(url);
  if (!target) return std::unexpected(target.error());
  target->schema = fmt::format("ff_raw_{}", getpid());
  auto queue = std::make_unique<PostgresQueue>(std::move(*target), options.payload_bytes);
  if (auto opened = queue->open(options.connections); !opened) return std::unexpected(opened.error());
  return queue;
}

}  // namespace ff::bench
