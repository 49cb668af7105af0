#pragma once

// A server over an engine on the memory store. Every answer is held against the OpenAPI document, whatever a test looks at.

#include "server/route_match.h"
#include "server/schema_checker.h"
#include "server/server.h"
#include "server/target.h"
#include "support/world.h"

#include <future>

namespace ff::test {

using server::Headers;
using server::Pending;
using server::Principal;
using server::Request;
using server::Response;
using server::Scope;
using server::Scopes;

/// An answer as tests look at it.
struct Got {
  int status = 0;
  Headers headers;
  std::string text;
  json::value body;  ///< null when it is no JSON

  std::string header(std::string_view name) const {
    const std::string* found = server::find_header(headers, name);
    return found ? *found : "";
  }
  /// The code of a problem, the field and the reason it names: `invalid_input max wrong_type`.
  std::string problem() const;
  const json::value& at(std::string_view member) const { return body.at(member); }
  std::string text_at(std::string_view member) const { return std::string(body.at(member).as_string()); }
};

/// The parsed document, made once.
const SchemaChecker& api_document();

class ServerTest : public ::testing::Test, public World {
 protected:
  ServerTest() : World(store_under_test("memory_serial")) { start_server({}); }

  void start_server(server::ServerOptions options);

  /// Head and body at once, as a transport would bring them. Who makes it has to be known at once.
  Pending handle(Request request, server::Server::Send send);
  /// The refusal of a head, before its body is read.
  std::optional<Response> refused_early(Request head);
  /// Sends it and waits for the answer.
  Got send(Request request);
  Got call(const std::string& method, const std::string& target, const std::string& body = "", Headers headers = {});
  Got post(const std::string& target, const std::string& body, Headers headers = {}) {
    return call("POST", target, body, std::move(headers));
  }
  Got get(const std::string& target) { return call("GET", target); }
  using World::get;
  /// Sends it; the answer comes when it comes.
  std::pair<Pending, std::future<Got>> start(Request request);

  /// An execution made over HTTP: its id.
  std::string created(const std::string& members = "");
  static std::string path(const std::string& id, const std::string& rest = "") {
    return "/v1/executions/" + server::percent_encoded(id) + rest;
  }
  /// The handle of the one task that is there.
  std::string claimed();
  /// How many executions there are, and what the lanes are: what no refused request may change.
  std::string everything();

  std::unique_ptr<server::Server> api;
  std::vector<std::string> log;
  std::mutex log_mutex;
};

/// A way to authenticate that knows everybody at once.
template <class Known>
std::function<void(const Request&, server::Authenticated)> known_at_once(Known known) {
  return [known](const Request& request, server::Authenticated done) { done(known(request)); };
}

/// A request with JSON in it.
Request json_request(std::string method, std::string target, std::string body);

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

}  // namespace ff::test
