#include "store/redis/redis_store.h"

#include "core/ids.h"
#include "store/redis/listener.h"
#include "store/redis/rows.h"
#include "store/redis/server_check.h"
#include "store/refusal.h"

#include <random>

namespace ff::store::redis {
namespace {

constexpr std::array kDatasetFields = {"data_set_id",           "handle_key",           "num_flow_partitions",
                                       "num_budget_partitions", "num_quota_partitions", "lane_spread",
                                       "event_shards",          "created_at_ms",        "engine_version"};

class RedisStore final : public Store {
 public:
  explicit RedisStore(std::shared_ptr<RedisShared> shared) : shared_(std::move(shared)) {}
  ~RedisStore() override { watch(nullptr); }

  StoreInfo info() override { return shared_->info; }
  StoreTraits traits() const override { return {2, false, false, false}; }
  Result<core::Dataset> adopt_dataset(const core::Dataset& proposed) override;
  Result<std::unique_ptr<Session>> open_session() override { return redis::open_session(shared_); }
  Result<std::unique_ptr<Reader>> open_reader() override { return redis::open_reader(shared_); }
  void watch(ForeignWatcher* watcher) override {
    listener_.reset();
    if (watcher)
      listener_ = std::make_unique<Listener>(shared_->topology, shared_->partitioning.num_flow_partitions,
                                             shared_->instance, [watcher] { watcher->foreign_commit(); });
  }
  void set_watchful(bool) override {}
  Result<void> set_engine_version(const std::string& version) override;

 private:
  std::shared_ptr<RedisShared> shared_;
  std::unique_ptr<Listener> listener_;
};

Result<core::Dataset> read_dataset(const Value& row) {
  core::Dataset found;
  const auto id = Uuid::parse(row[0].text());
  if (!id) return std::unexpected(core::corruption("ff_dataset", "data_set_id", row[0].text()));
  found.data_set_id = *id;
  const std::string_view key = row[1].text();
  if (key.size() != found.handle_key.size())
    return std::unexpected(core::corruption("ff_dataset", "handle_key", "wrong length"));
  std::copy(key.begin(), key.end(), found.handle_key.begin());
  found.partitioning.num_flow_partitions = static_cast<std::uint16_t>(row[2].number());
  found.partitioning.num_budget_partitions = static_cast<std::uint16_t>(row[3].number());
  found.partitioning.num_quota_partitions = static_cast<std::uint16_t>(row[4].number());
  found.partitioning.lane_spread = static_cast<std::uint16_t>(row[5].number());
  found.event_shards = static_cast<std::uint16_t>(row[6].number());
  found.created_at_ms = row[7].number();
  found.engine_version = row[8].text();
  return found;
}

Result<core::Dataset> RedisStore::adopt_dataset(const core::Dataset& proposed) {
  const Place global(0);
  const core::Partitioning& counts = proposed.partitioning;
  Link link = shared_->link();
  // Written only where there is none: of several first starts, one wins.
  Command propose(global.slot, "FCALL");
  propose.args("ff_adopt", 1, global.dataset());
  propose.args(kDatasetFields[0], proposed.data_set_id.to_string(), kDatasetFields[1],
               std::string_view(reinterpret_cast<const char*>(proposed.handle_key.data()), proposed.handle_key.size()));
  propose.args(kDatasetFields[2], counts.num_flow_partitions, kDatasetFields[3], counts.num_budget_partitions);
  propose.args(kDatasetFields[4], counts.num_quota_partitions, kDatasetFields[5], counts.lane_spread);
  propose.args(kDatasetFields[6], proposed.event_shards, kDatasetFields[7], proposed.created_at_ms);
  propose.args(kDatasetFields[8], proposed.engine_version);
  if (shared_->options.create)
    if (auto done = link.call(propose); !done) return std::unexpected(done.error());
  Command get(global.slot, "HMGET");
  get.arg(global.dataset());
  for (const char* name : kDatasetFields) get.arg(name);
  auto row = link.call(get);
  if (!row) return std::unexpected(row.error());
  auto dataset = read_dataset(row->value());
  if (!dataset) return dataset;
  shared_->partitioning = dataset->partitioning;
  shared_->places.set_count(dataset->partitioning.num_flow_partitions);
  return dataset;
}

Result<void> RedisStore::set_engine_version(const std::string& version) {
  const Place global(0);
  auto done = shared_->link().call(Command(global.slot, "HSET").args(global.dataset(), kDatasetFields[8], version));
  if (!done) return std::unexpected(done.error());
  return {};
}

/// Refuses a layout that this program does not know, and writes down that of a new data set.
Result<void> check_layout(RedisShared& shared) {
  const Place global(0);
  Link link = shared.link();
  auto found = link.call(Command(global.slot, "HMGET").args(global.layout(), "version", "applied_at_ms"));
  if (!found) return std::unexpected(found.error());
  auto dataset = link.call(Command(global.slot, "EXISTS").arg(global.dataset()));
  if (!dataset) return std::unexpected(dataset.error());
  if (!shared.options.create && dataset->value().number() == 0)
    return std::unexpected(refusal("unsafe_settings",
                                   "The server holds no FlowFabric data. Check the store URL; `ff "
                                   "migrate` makes a new data set."));
  const auto version = static_cast<int>((*found)[0].number());
  if (version > kLayoutVersion)
    return std::unexpected(
        refusal("schema_too_new", fmt::format("The data set has layout version {}, this program knows {}. "
                                              "Use a newer program.",
                                              version, kLayoutVersion)));
  shared.info.schema_version_found = version;
  TimeMs applied_at = (*found)[1].number();
  if (version == 0) {
    auto time = link.call(Command(global.slot, "TIME"));
    if (!time) return std::unexpected(time.error());
    applied_at = shared.options.clock ? shared.options.clock->now_ms() : time_of(time->value());
    auto written = link.call(
        Command(global.slot, "HSET").args(global.layout(), "version", kLayoutVersion, "applied_at_ms", applied_at));
    if (!written) return std::unexpected(written.error());
  }
  shared.info.schema = {{kLayoutVersion, "foundation", applied_at}};
  return {};
}

}  // namespace

TimeMs time_of(const Value& reply) { return reply[0].number() * 1000 + reply[1].number() / 1000; }

}  // namespace ff::store::redis

namespace ff::store {

Result<std::unique_ptr<Store>> open_redis(const std::string& text, const StoreOptions& options) {
  using namespace redis;
  auto url = Url::parse(text);
  if (!url) return std::unexpected(url.error());
  Login login;
  login.user = url->user;
  login.password = url->password;
  login.database = url->database;
  login.request_timeout = std::chrono::milliseconds(options.request_timeout_ms);
  auto shared = std::make_shared<RedisShared>();
  shared->options = options;
  shared->replicas = url->replicas;
  std::random_device random;
  shared->instance = fmt::format("{:08x}{:08x}", random(), random());
  shared->topology = std::make_shared<Topology>(std::move(*url), std::move(login));
  if (auto found = shared->topology->discover(); !found) return std::unexpected(found.error());
  if (auto good = check_servers(*shared->topology, options, shared->info); !good) return std::unexpected(good.error());
  if (shared->replicas > 0)
    shared->info.settings.emplace_back("replicas that confirm", std::to_string(shared->replicas));
  if (auto good = check_layout(*shared); !good) return std::unexpected(good.error());
  return std::make_unique<RedisStore>(std::move(shared));
}

}  // namespace ff::store
