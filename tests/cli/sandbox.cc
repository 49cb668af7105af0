#include "cli/sandbox.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

namespace ff::test {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int next_number() {
  static std::atomic<int> number = 0;
  return ++number;
}

}  // namespace

Process::Process(const fs::path& folder, const std::vector<std::string>& command, const std::string& input,
                 const std::vector<std::string>& environment) {
  const std::string name = ".child-" + std::to_string(next_number());
  const fs::path in_path = folder / (name + ".in");
  out_path_ = folder / (name + ".out");
  err_path_ = folder / (name + ".err");
  std::ofstream(in_path, std::ios::binary) << input;
  pid_ = fork();
  if (pid_ != 0) return;
  // The child.
  if (chdir(folder.c_str()) != 0) _exit(126);
  dup2(::open(in_path.c_str(), O_RDONLY), STDIN_FILENO);
  dup2(::open(out_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
  dup2(::open(err_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
  unsetenv("FF_STORE");
  for (const auto& variable : environment) putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

Process::Process(Process&& other) noexcept
    : out_path_(std::move(other.out_path_)), err_path_(std::move(other.err_path_)), pid_(std::exchange(other.pid_, -1)) {}

Process::~Process() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const { kill(pid_, number); }
std::string Process::out() const { return content_of(out_path_); }
std::string Process::err() const { return content_of(err_path_); }

Ended Process::wait(std::chrono::seconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "the child did not end; it said: " << err();
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = -1;
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), out(), err()};
}

Sandbox::Sandbox() {
  folder_ = fs::temp_directory_path() / ("ff-cli-" + std::to_string(getpid()) + "-" + std::to_string(next_number()));
  fs::create_directories(folder_);
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Process Sandbox::start_program(const std::vector<std::string>& command) const {
  return Process(folder_, command, {}, environment);
}

Process Sandbox::start(const std::vector<std::string>& words) const {
  std::vector<std::string> command{FF_BINARY};
  command.insert(command.end(), words.begin(), words.end());
  return Process(folder_, command, {}, environment);
}

Ended Sandbox::ff(const std::vector<std::string>& words, const std::string& input) const {
  std::vector<std::string> command{FF_BINARY};
  command.insert(command.end(), words.begin(), words.end());
  return Process(folder_, command, input, environment).wait();
}

boost::json::value Sandbox::ff_json(std::vector<std::string> words) const {
  words.insert(words.begin(), "--json");
  const Ended ended = ff(words);
  EXPECT_EQ(ended.code, 0) << ended.err;
  boost::json::error_code error;
  auto value = boost::json::parse(ended.out, error);
  EXPECT_FALSE(error) << ended.out;
  return value;
}

std::string Sandbox::submit(std::vector<std::string> words) const {
  words.insert(words.begin(), "submit");
  const Ended ended = ff(words);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return ended.out.substr(0, ended.out.find('\n'));
}

std::string Sandbox::state(const std::string& id) const {
  return std::string(ff_json({"get", id}).at("public_state").as_string());
}

void Sandbox::wait_for_state(const std::string& id, const std::string& wanted) const {
  EXPECT_TRUE(eventually([&] { return state(id) == wanted; })) << id << " is " << state(id) << ", not " << wanted;
}

void Sandbox::write(const std::string& name, const std::string& content) const {
  std::ofstream(path(name), std::ios::binary) << content;
}

std::string Sandbox::read(const std::string& name) const { return content_of(path(name)); }

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace ff::test
