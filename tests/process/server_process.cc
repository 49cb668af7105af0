#include "process/server_process.h"

#include "server/target.h"

#include <sys/wait.h>

#include <csignal>
#include <regex>

namespace ff::test {
namespace {

std::vector<std::string> serve_words(std::vector<std::string> flags) {
  const bool has_address = std::find(flags.begin(), flags.end(), "--listen") != flags.end();
  flags.insert(flags.begin(), "serve");
  if (!has_address) flags.insert(flags.end(), {"--listen", "127.0.0.1:0"});
  return flags;
}

/// The addresses in the line that says that it serves; one for everybody is reached through the loopback.
std::vector<std::string> addresses_in(const std::string& line) {
  static const std::regex kAddress("(https?://[^ ,;/]+|unix:/[^ ,;]+)[,;]");
  std::vector<std::string> found;
  for (std::sregex_iterator it(line.begin(), line.end(), kAddress), end; it != end; ++it) {
    std::string address = (*it)[1];
    if (const std::size_t any = address.find("0.0.0.0:"); any != address.npos) address.replace(any, 7, "127.0.0.1");
    found.push_back(std::move(address));
  }
  return found;
}

/// It stays to be waited for.
bool has_ended(int pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

}  // namespace

std::string Told::text_at(std::string_view member) const { return std::string(body.at(member).as_string()); }

std::string Told::code() const {
  const json::object* object = body.if_object();
  const json::value* code = object ? object->if_contains("code") : nullptr;
  return code && code->is_string() ? std::string(code->as_string()) : "";
}

Told told(WireAnswer answer) {
  Told out{answer.status, std::move(answer.headers), std::move(answer.body), {}};
  json::error_code failed;
  if (out.header("content-type").find("json") != std::string::npos) out.body = json::parse(out.text, failed);
  return out;
}

server::Headers bearer(const std::string& token) {
  if (token.empty()) return {};
  return {{"Authorization", "Bearer " + token}};
}

ServerProcess::ServerProcess(const Sandbox& sandbox, std::vector<std::string> flags)
    : process_(sandbox.start(serve_words(std::move(flags)))) {
  EXPECT_TRUE(eventually([&] {
    urls_ = addresses_in(out());
    return !urls_.empty() || has_ended(process_.pid());
  }));
  EXPECT_FALSE(urls_.empty()) << "it does not serve: " << log();
  if (urls_.empty()) urls_.emplace_back("http://127.0.0.1:1");
}

Told ServerProcess::call(const std::string& method, const std::string& target, const std::string& body,
                         const std::string& token) const {
  return told(client().call(method, target, body, bearer(token)));
}

bool ServerProcess::claims_wait(int count) const {
  return eventually([&] {
    const std::string figures = get("/metrics").text;
    int waiting = 0;
    static const std::regex kWaiters("ff_claim_waiters\\{[^}]*\\} (\\d+)");
    for (std::sregex_iterator it(figures.begin(), figures.end(), kWaiters), end; it != end; ++it)
      waiting += std::stoi((*it)[1]);
    return waiting == count;
  });
}

void ServerProcess::kill() {
  signal(SIGKILL);
  EXPECT_EQ(wait().code, 128 + SIGKILL);
}

bool ServerProcess::logs(const std::string& words) const {
  return eventually([&] { return log().find(words) != std::string::npos; });
}

std::string path_of(const std::string& execution_id, const std::string& rest) {
  return "/v1/executions/" + server::percent_encoded(execution_id) + rest;
}

std::string claim_body(const std::string& instance, const std::string& more) {
  return R"({"worker_id":"w","worker_instance_id":")" + instance + R"(","lanes":["default"])" + more + "}";
}

std::string handle_body(const std::string& handle, const std::string& more) {
  return R"({"handle":")" + handle + "\"" + more + "}";
}

}  // namespace ff::test
