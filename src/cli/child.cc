#include "cli/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace ff::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Of a line of standard error, more is not kept.
constexpr std::size_t kErrorLineBytesMax = 4'096;
constexpr std::size_t kPieceBytes = 65'536;
/// A child that never stops writing must not keep us from looking at the clock.
constexpr int kPiecesMax = 16;

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = Fd(ends[0]);
    write = Fd(ends[1]);
    return true;
  }
};

void set_nonblocking(const Fd& fd) { fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

/// The environment of the child: ours with the additions in place of variables of the same name.
std::vector<std::string> environment_of(const ChildCall& call) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const bool replaced = std::any_of(call.environment.begin(), call.environment.end(), [&](const auto& added) {
      return text.starts_with(added.first) && text.substr(added.first.size()).starts_with('=');
    });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : call.environment) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// One run of a child, from its start to its end.
class Child {
 public:
  Child(const ChildCall& call, const std::stop_token& stop) : call_(call), stop_(stop) {}

  ChildEnd run() {
    if (!start()) return std::move(end_);
    std::stop_callback on_stop(stop_, [this] {
      const std::uint64_t one = 1;
      (void)!write(wake_.get(), &one, sizeof one);
    });
    while (!exited_) {
      if (stop_.stop_requested() && !end_.stopped) {
        end_.stopped = true;
        ask_to_end();
      }
      wait_for_something();
      if (ending_ && Clock::now() >= kill_at_) signal_group(SIGKILL);
    }
    read_output();
    read_errors();
    if (!error_line_.empty()) take_error_line();
    return std::move(end_);
  }

 private:
  bool start() {
    Pipe report;
    if (!in_.open() || !out_.open() || !err_.open() || !report.open() || !(wake_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))))
      return not_started(errno);
    std::vector<std::string> words = call_.command;
    std::vector<std::string> variables = environment_of(call_);
    const auto arguments = pointers_to(words);
    const auto environment = pointers_to(variables);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) return not_started(errno);
    if (pid_ == 0) become(arguments, environment, report, parent);
    setpgid(pid_, pid_);
    in_.read.reset();
    out_.write.reset();
    err_.write.reset();
    report.write.reset();
    int fault = 0;
    ssize_t got = 0;
    do got = read(report.read.get(), &fault, sizeof fault);
    while (got < 0 && errno == EINTR);
    if (got == static_cast<ssize_t>(sizeof fault)) {
      waitpid(pid_, nullptr, 0);
      return not_started(fault);
    }
    exit_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!exit_) {
      const int no_pidfd = errno;
      signal_group(SIGKILL);
      waitpid(pid_, nullptr, 0);
      return not_started(no_pidfd);
    }
    set_nonblocking(in_.write);
    set_nonblocking(out_.read);
    set_nonblocking(err_.read);
    if (call_.input.empty()) in_.write.reset();
    return true;
  }

  /// The child between fork and exec: only calls that are safe there.
  [[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment, const Pipe& report,
                           pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    for (int number : {SIGTERM, SIGINT, SIGPIPE}) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(in_.read.get(), STDIN_FILENO);
    dup2(out_.write.get(), STDOUT_FILENO);
    dup2(err_.write.get(), STDERR_FILENO);
    execvpe(arguments[0], arguments.data(), environment.data());
    const int fault = errno;
    (void)!write(report.write.get(), &fault, sizeof fault);
    _exit(127);
  }

  bool not_started(int fault) {
    end_.how = ChildEnd::How::not_started;
    end_.code = fault;
    return false;
  }

  void signal_group(int number) {
    if (kill(-pid_, number) != 0) kill(pid_, number);
  }

  void ask_to_end() {
    if (ending_) return;
    ending_ = true;
    kill_at_ = Clock::now() + std::chrono::milliseconds(call_.kill_grace_ms);
    signal_group(SIGTERM);
  }

  void wait_for_something() {
    std::vector<pollfd> fds{{exit_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (in_.write) fds.push_back({in_.write.get(), POLLOUT, 0});
    if (out_.read) fds.push_back({out_.read.get(), POLLIN, 0});
    if (err_.read) fds.push_back({err_.read.get(), POLLIN, 0});
    int timeout_ms = -1;
    if (ending_) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(kill_at_ - Clock::now()).count();
      timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left + 1, 10, 60'000));
    }
    if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return;
    if (fds[1].revents) {
      std::uint64_t count = 0;
      (void)!read(wake_.get(), &count, sizeof count);
    }
    write_input();
    read_output();
    read_errors();
    if (fds[0].revents) collect();
  }

  void write_input() {
    while (in_.write) {
      const auto left = call_.input.substr(written_);
      if (left.empty()) return in_.write.reset();
      const ssize_t count = write(in_.write.get(), left.data(), left.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count < 0) return in_.write.reset();  // it does not want the rest
      written_ += static_cast<std::size_t>(count);
    }
  }

  void read_output() {
    drain(out_.read, [this](std::string_view piece) {
      if (end_.how == ChildEnd::How::output_too_long) return;
      end_.output.append(piece);
      if (end_.output.size() <= call_.output_bytes_max) return;
      end_.how = ChildEnd::How::output_too_long;
      end_.output.clear();
      ask_to_end();
    });
  }

  void read_errors() {
    drain(err_.read, [this](std::string_view piece) {
      for (char c : piece) {
        if (c == '\n')
          take_error_line();
        else if (error_line_.size() < kErrorLineBytesMax)
          error_line_.push_back(c);
      }
    });
  }

  void take_error_line() {
    if (call_.on_error_line) call_.on_error_line(error_line_);
    if (error_line_.find_first_not_of(" \t\r") != std::string::npos) end_.last_error_line = error_line_;
    error_line_.clear();
  }

  template <class Take>
  void drain(Fd& fd, Take take) {
    char piece[kPieceBytes];
    for (int pieces = 0; fd && pieces < kPiecesMax; ++pieces) {
      const ssize_t count = read(fd.get(), piece, sizeof piece);
      if (count > 0)
        take(std::string_view(piece, static_cast<std::size_t>(count)));
      else if (count < 0 && errno == EINTR)
        continue;
      else if (count < 0 && errno == EAGAIN)
        return;
      else
        fd.reset();
    }
  }

  void collect() {
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_) return;
    exited_ = true;
    // Whatever it left behind in its group has lost its task when that was stopped.
    if (ending_) kill(-pid_, SIGKILL);
    if (end_.how == ChildEnd::How::output_too_long) return;
    end_.how = WIFSIGNALED(status) ? ChildEnd::How::signalled : ChildEnd::How::exited;
    end_.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }

  const ChildCall& call_;
  std::stop_token stop_;
  ChildEnd end_;
  Pipe in_, out_, err_;
  Fd wake_, exit_;
  pid_t pid_ = -1;
  std::size_t written_ = 0;
  std::string error_line_;
  bool exited_ = false;
  bool ending_ = false;
  Clock::time_point kill_at_;
};

}  // namespace

ChildEnd run_child(const ChildCall& call, const std::stop_token& stop) { return Child(call, stop).run(); }

bool can_run(const std::string& program) {
  if (program.empty()) return false;
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const auto colon = folders.find(':');
    const std::string folder(folders.substr(0, colon));
    if (access(((folder.empty() ? "." : folder) + "/" + program).c_str(), X_OK) == 0) return true;
    if (colon == std::string_view::npos) return false;
    folders.remove_prefix(colon + 1);
  }
}

}  // namespace ff::cli
