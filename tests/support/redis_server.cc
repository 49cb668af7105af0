#include "support/redis_server.h"

#include "support/world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace ff::test {
namespace {

using store::redis::Command;
using store::redis::Connection;

bool is_free(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return bound;
}

/// A port that is free together with the one 10,000 above it, where the servers of a cluster talk to each other.
std::uint16_t free_port() {
  // Programs that start together have neighbouring numbers, and look for ports at the same time: far apart.
  static std::uint16_t next = static_cast<std::uint16_t>(20'000 + getpid() * std::int64_t{101} % 9'900);
  for (int tries = 0; tries < 10'000; ++tries) {
    next = static_cast<std::uint16_t>(next + 1 < 30'000 ? next + 1 : 20'000);
    if (is_free(next) && is_free(static_cast<std::uint16_t>(next + 10'000))) return next;
  }
  throw std::runtime_error("no free port");
}

}  // namespace

RedisServer::RedisServer(std::vector<std::string> settings) : settings_(std::move(settings)) {
  address_ = {"127.0.0.1", free_port()};
  start();
}

RedisServer::~RedisServer() { kill(); }

std::string RedisServer::url(int database) const {
  return fmt::format("redis://{}{}", address_.to_string(), database ? fmt::format("/{}", database) : "");
}

void RedisServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void RedisServer::start() {
  std::vector<std::string> words = {"redis-server",
                                    "--port",
                                    std::to_string(address_.port),
                                    "--bind",
                                    "127.0.0.1",
                                    "--dir",
                                    folder_.path().string(),
                                    "--save",
                                    "",
                                    "--databases",
                                    "100",
                                    "--loglevel",
                                    "warning",
                                    "--logfile",
                                    folder_.file("log")};
  words.insert(words.end(), settings_.begin(), settings_.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  const bool up = eventually([&] {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) throw std::runtime_error("redis-server ended at its start");
    auto connection = Connection::open(address_, {});
    return connection && connection->call(Command(0, "PING"));
  });
  if (!up) throw std::runtime_error("redis-server does not answer");
}

store::redis::Reply RedisServer::call(const std::vector<std::string>& words) const {
  auto connection = must(Connection::open(address_, {}));
  Command command(0, words.front());
  for (std::size_t i = 1; i < words.size(); ++i) command.arg(words[i]);
  return must(connection.call(command));
}

std::string RedisServer::text(const std::vector<std::string>& words) const {
  return std::string(call(words).value().text());
}

RedisCluster::RedisCluster(bool replicas, const std::vector<std::string>& settings) {
  const std::size_t primaries = 3, count = replicas ? 6 : 3;
  std::vector<std::string> words = {"--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
                                    "--cluster-replica-validity-factor", "0"};
  words.insert(words.end(), settings.begin(), settings.end());
  for (std::size_t i = 0; i < count; ++i) nodes_.push_back(std::make_unique<RedisServer>(words));
  for (std::size_t i = 0; i < count; ++i) nodes_[i]->call({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  const int bounds[] = {0, 5'461, 10'923, 16'384};
  for (std::size_t i = 0; i < primaries; ++i)
    nodes_[i]->call({"CLUSTER", "ADDSLOTSRANGE", std::to_string(bounds[i]), std::to_string(bounds[i + 1] - 1)});
  for (std::size_t i = 1; i < count; ++i)
    nodes_[i]->call({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[0]->address().port)});
  auto everywhere = [&](const std::function<bool(const RedisServer&)>& so) {
    for (const auto& node : nodes_)
      if (!eventually([&] { return so(*node); })) throw std::runtime_error("the cluster does not come up");
  };
  everywhere([&](const RedisServer& node) {
    return node.text({"CLUSTER", "INFO"}).find(fmt::format("cluster_known_nodes:{}\r", count)) != std::string::npos;
  });
  for (std::size_t i = primaries; i < count; ++i) nodes_[i]->call({"CLUSTER", "REPLICATE", id(i - primaries)});
  everywhere([](const RedisServer& node) {
    return node.text({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
  });
  for (std::size_t i = primaries; i < count; ++i)
    eventually([&] {
      return nodes_[i]->text({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
    });
}

std::string RedisCluster::id(std::size_t at) const { return nodes_[at]->text({"CLUSTER", "MYID"}); }

std::size_t RedisCluster::owner(std::uint16_t slot) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i]->pid() <= 0) continue;
    const auto slots = nodes_[i]->call({"CLUSTER", "SLOTS"});
    for (std::size_t j = 0; j < slots.value().size(); ++j) {
      if (slot < slots[j][0].number() || slot > slots[j][1].number()) continue;
      for (std::size_t k = 0; k < nodes_.size(); ++k)
        if (nodes_[k]->address().port == slots[j][2][1].number()) return k;
    }
  }
  throw std::runtime_error("nobody holds the slot");
}

void RedisCluster::flush() const {
  for (const auto& node : nodes_)
    if (node->text({"INFO", "replication"}).find("role:master") != std::string::npos) node->call({"FLUSHALL"});
}

void RedisCluster::move_slot(std::uint16_t slot, std::size_t from, std::size_t to,
                             const std::function<void()>& midway) {
  const std::string number = std::to_string(slot);
  nodes_[to]->call({"CLUSTER", "SETSLOT", number, "IMPORTING", id(from)});
  nodes_[from]->call({"CLUSTER", "SETSLOT", number, "MIGRATING", id(to)});
  const auto total = nodes_[from]->call({"CLUSTER", "COUNTKEYSINSLOT", number}).value().number();
  bool told = false;
  while (true) {
    const auto keys = nodes_[from]->call({"CLUSTER", "GETKEYSINSLOT", number, "10"});
    if (!told && nodes_[from]->call({"CLUSTER", "COUNTKEYSINSLOT", number}).value().number() <= total / 2) {
      told = true;
      midway();
      continue;
    }
    if (keys.value().size() == 0) break;
    std::vector<std::string> move = {"MIGRATE", "127.0.0.1", std::to_string(nodes_[to]->address().port), "", "0",
                                     "5000",    "KEYS"};
    for (std::size_t i = 0; i < keys.value().size(); ++i) move.emplace_back(keys[i].text());
    nodes_[from]->call(move);
  }
  for (std::size_t node : {to, from}) nodes_[node]->call({"CLUSTER", "SETSLOT", number, "NODE", id(to)});
}

}  // namespace ff::test
