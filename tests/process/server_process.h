#pragma once

// `ff serve` as a process of its own, in a folder of its own, at a port of its own.

#include "cli/sandbox.h"
#include "server/http_client.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace ff::test {

namespace json = boost::json;

/// An answer as tests look at it.
struct Told {
  int status = 0;  ///< 0: none came
  server::Headers headers;
  std::string text;
  json::value body;  ///< null when it is no JSON

  std::string header(std::string_view name) const {
    const std::string* found = server::find_header(headers, name);
    return found ? *found : "";
  }
  const json::value& at(std::string_view member) const { return body.at(member); }
  std::string text_at(std::string_view member) const;
  /// The code of a problem; empty when it is none.
  std::string code() const;
};

Told told(WireAnswer answer);

/// The header of a token; none for an empty one.
server::Headers bearer(const std::string& token);

class ServerProcess {
 public:
  /// Starts it and waits until it says where it serves; fails the test when it does not. `--listen 127.0.0.1:0` is added
  /// when no address is given.
  explicit ServerProcess(const Sandbox& sandbox, std::vector<std::string> flags = {});

  /// Where it can be reached from here.
  const std::string& url() const { return urls_.at(0); }
  const std::vector<std::string>& urls() const { return urls_; }
  HttpClient client() const { return HttpClient(url()); }
  /// On a connection of its own.
  Told call(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& token = "") const;
  Told get(const std::string& target, const std::string& token = "") const { return call("GET", target, "", token); }
  Told post(const std::string& target, const std::string& body, const std::string& token = "") const {
    return call("POST", target, body, token);
  }
  /// Waits until its figures say so many.
  bool claims_wait(int count) const;

  void signal(int number) const { process_.signal(number); }
  /// Kills it with -9 and waits.
  void kill();
  Ended wait() { return process_.wait(); }
  /// What it said when it was ready, and its log.
  std::string out() const { return process_.out(); }
  std::string log() const { return process_.err(); }
  /// Waits until the log has these words.
  bool logs(const std::string& words) const;

 private:
  Process process_;
  std::vector<std::string> urls_;
};

/// `/v1/executions/<id, encoded>` and what follows.
std::string path_of(const std::string& execution_id, const std::string& rest = "");
/// The body of a claim by an instance.
std::string claim_body(const std::string& instance = "w1", const std::string& more = "");
std::string handle_body(const std::string& handle, const std::string& more = "");

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

}  // namespace ff::test
