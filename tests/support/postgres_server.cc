#include "support/postgres_server.h"

#include <libpq-fe.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ff::test {
namespace {

namespace fs = std::filesystem;

/// The newest server that is installed.
std::string program(const std::string& name) {
  std::vector<std::pair<int, fs::path>> found;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql"))
    if (fs::exists(entry.path() / "bin" / name))
      found.emplace_back(std::atoi(entry.path().filename().c_str()), entry.path() / "bin" / name);
  if (found.empty()) throw std::runtime_error("no Postgres server is installed");
  return std::max_element(found.begin(), found.end())->second.string();
}

/// The ordinary user as which the server runs when we are root; none otherwise.
const passwd* server_user() {
  if (geteuid() != 0) return nullptr;
  if (const passwd* user = getpwnam("postgres")) return user;
  return getpwnam("nobody");
}

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(fd);
  if (!bound) throw std::runtime_error("no port is free");
  return ntohs(address.sin_port);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

PostgresServer::PostgresServer(bool durable, std::vector<std::string> settings) : settings_(std::move(settings)) {
  if (!durable)
    for (const char* setting : {"fsync=off", "synchronous_commit=off", "full_page_writes=off"})
      settings_.emplace_back(setting);
  std::string name = (fs::temp_directory_path() / "flowfabric-postgres-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder can be made");
  folder_ = name;
  if (const passwd* user = server_user())
    if (chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) throw std::runtime_error("chown failed");
  run_to_end({program("initdb"), "-D", (folder_ / "data").string(), "-U", "ff", "-A", "trust", "-E", "UTF8",
              "--locale=C", "--no-sync"});
  start();
}

PostgresServer::~PostgresServer() {
  stop();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

pid_t PostgresServer::launch(const std::vector<std::string>& command, bool dies_with_us) const {
  const passwd* user = server_user();
  const std::string log = (folder_ / "log").string();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid > 0) return pid;
  if (user && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) _exit(126);
  if (dies_with_us && (prctl(PR_SET_PDEATHSIG, SIGQUIT) != 0 || getppid() != parent)) _exit(126);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  if (chdir(folder_.c_str()) != 0) _exit(126);
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

void PostgresServer::run_to_end(const std::vector<std::string>& command) const {
  if (wait_for(launch(command, true)) != 0)
    throw std::runtime_error(command[0] + " failed; its words are in " + (folder_ / "log").string());
}

void PostgresServer::start() {
  if (port_ == 0) port_ = free_port();
  std::vector<std::string> command = {program("postgres"), "-D", (folder_ / "data").string(), "-k",
                                      folder_.string(),    "-p", std::to_string(port_),       "-h",
                                      "127.0.0.1"};
  for (const char* setting : {"max_connections=300", "shared_buffers=64MB", "logging_collector=off"}) {
    command.emplace_back("-c");
    command.emplace_back(setting);
  }
  for (const auto& setting : settings_) {
    command.emplace_back("-c");
    command.push_back(setting);
  }
  pid_ = launch(command, true);
  for (int i = 0; i < 600; ++i) {
    if (PQping(url().c_str()) == PQPING_OK) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw std::runtime_error("Postgres does not start; its words are in " + (folder_ / "log").string());
}

void PostgresServer::stop(bool at_once) {
  if (pid_ <= 0) return;
  kill(pid_, at_once ? SIGQUIT : SIGINT);
  wait_for(pid_);
  pid_ = -1;
}

std::string PostgresServer::url(const std::string& schema) const {
  return "postgres://ff@127.0.0.1:" + std::to_string(port_) + "/postgres" + (schema.empty() ? "" : "?schema=" + schema);
}

std::string PostgresServer::new_schema() {
  return "t" + std::to_string(getpid()) + "_" + std::to_string(++schemas_);
}

void PostgresServer::drop_schema(const std::string& schema) { run("DROP SCHEMA IF EXISTS " + schema + " CASCADE"); }

std::vector<std::string> PostgresServer::run(const std::string& script) {
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(url().c_str()), &PQfinish);
  std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexec(connection.get(), ("SET client_min_messages = warning; " + script).c_str()), &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(PQerrorMessage(connection.get()));
  std::vector<std::string> values;
  for (int row = 0; row < PQntuples(result.get()); ++row) values.emplace_back(PQgetvalue(result.get(), row, 0));
  return values;
}

}  // namespace ff::test
