#pragma once

// The real program as a child process in a folder of its own.

#include <boost/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ff::test {

struct Ended {
  int code = -1;  ///< exit code; 128 + n when a signal n ended it
  std::string out;
  std::string err;
};

/// A child that runs beside the test. Its outputs go to files, so that it never waits for us.
class Process {
 public:
  Process(const std::filesystem::path& folder, const std::vector<std::string>& command, const std::string& input,
          const std::vector<std::string>& environment);
  Process(Process&& other) noexcept;
  ~Process();  ///< kills it when it still runs

  void signal(int number) const;
  /// Waits for its end; a child that takes too long is killed and fails the test.
  Ended wait(std::chrono::seconds at_most = std::chrono::seconds(60));
  std::string out() const;
  std::string err() const;
  int pid() const { return pid_; }

 private:
  std::filesystem::path out_path_, err_path_;
  int pid_ = -1;
};

/// A temporary folder, in which the default store is a fresh file.
class Sandbox {
 public:
  Sandbox();
  ~Sandbox();

  /// Runs `ff` with these words to its end.
  Ended ff(const std::vector<std::string>& words, const std::string& input = {}) const;
  /// The same with `--json`; the document that it printed. Fails the test when it did not end well.
  boost::json::value ff_json(std::vector<std::string> words) const;
  /// Submits and returns the id.
  std::string submit(std::vector<std::string> words) const;
  Process start(const std::vector<std::string>& words) const;
  Process start_program(const std::vector<std::string>& command) const;

  /// The public state of an execution.
  std::string state(const std::string& id) const;
  /// Waits until the execution is in that state; fails the test after a minute.
  void wait_for_state(const std::string& id, const std::string& state) const;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;

  std::vector<std::string> environment;  ///< `NAME=value`, added to ours for every child

 private:
  std::filesystem::path folder_;
};

/// Tries until it is true, for at most a minute; the answer of the last try.
bool eventually(const std::function<bool()>& condition);

/// The lines of a text.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace ff::test
