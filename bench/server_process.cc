#include "bench/server_process.h"

#include "core/errors.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

extern char** environ;

namespace ff::bench {
namespace {

constexpr int kStartMs = 60'000;

/// Settings of the server are ours to give: variables of ours are not handed on.
std::vector<char*> environment_without_settings() {
  std::vector<char*> kept;
  for (char** each = environ; *each; ++each)
    if (!std::string_view(*each).starts_with("FF_")) kept.push_back(*each);
  kept.push_back(nullptr);
  return kept;
}

/// The first line that it writes; shorter when it ends, or takes too long.
std::string read_line(int fd) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kStartMs);
  std::string line;
  while (line.find('\n') == line.npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd watched{fd, POLLIN, 0};
    if (left <= 0 || poll(&watched, 1, static_cast<int>(left)) <= 0) break;
    char bytes[512];
    const auto got = ::read(fd, bytes, sizeof bytes);
    if (got <= 0) break;
    line.append(bytes, static_cast<std::size_t>(got));
  }
  return line.substr(0, line.find('\n'));
}

}  // namespace

Result<ServerProcess> ServerProcess::start(const std::string& store_url) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return core::fail(ErrorCode::store_unavailable, "No pipe could be made for the server.");
  std::vector<std::string> words = {"ff", "serve", "--store", store_url, "--listen", "127.0.0.1:0", "--log-level", "error",
                                    "--dashboard", "false"};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  auto environment = environment_without_settings();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ServerProcess server;
  server.output_ = ends[0];
  const int failed = posix_spawn(&server.pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    server.pid_ = -1;
    return core::fail(ErrorCode::store_unavailable, "The server could not be started as a process of its own.");
  }
  // `ff 0.1.0 serves <store> at http://127.0.0.1:<port>; ...`
  const std::string line = read_line(server.output_);
  const std::size_t from = line.find("http://127.0.0.1:");
  if (from == line.npos)
    return core::fail(ErrorCode::store_unavailable, "The server did not start; what it wrote to standard error tells why.");
  server.url_ = line.substr(from, line.find_first_of(";, ", from) - from);
  return server;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::exchange(other.output_, -1)), url_(std::move(other.url_)) {}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  if (output_ >= 0) ::close(output_);
}

}  // namespace ff::bench
