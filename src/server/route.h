#pragma once

// What a route is: where it stands, who may call it, what it takes and gives. The table of all routes serves matching,
// scopes and the OpenAPI document alike.

#include "api/backend.h"
#include "core/caller.h"
#include "server/decode.h"
#include "server/limits.h"
#include "server/principal.h"
#include "server/schema.h"

namespace ff::server {

class Health;

/// A successful answer. `body` is JSON text unless `content_type` says otherwise.
struct Reply {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  Headers headers;
  bool replay = false;  ///< nothing had to change: the first answer, again
  std::move_only_function<void()> undelivered;
  std::shared_ptr<BodyStream> stream;  ///< instead of `body`
};
using Answer = std::move_only_function<void(Result<Reply>)>;

/// A request that waits for something to happen, and how its waiting can end before that.
struct Wait {
  std::function<void()> answer_now;  ///< the server is shutting down: the answer is what there is
  std::function<void()> give_up;     ///< nobody is there to be answered
};

/// What a handler sees besides its input. It lives as long as any part of the call.
struct Context {
  std::shared_ptr<api::Backend> backend;  ///< acts for `caller`
  core::Caller caller;
  std::function<std::shared_ptr<api::Backend>(const core::Caller&)> acting_for;
  Principal principal;
  Limits limits;
  Headers headers;
  bool minimal = false;  ///< the caller prefers the bare outcome to the whole execution
  std::shared_ptr<Health> health;
  /// To be asked to shut down; unset when it cannot.
  std::function<void(std::optional<std::uint32_t> grace_ms, bool ends)> drain;
  /// The text of `/metrics`; unset: it is not told here.
  std::function<std::string()> metrics;
  /// To be told of a wait.
  std::function<void(Wait)> waiting;
  /// To be told of an error whose text the caller does not see.
  std::function<void(const Error&)> report;
};
using Ctx = std::shared_ptr<const Context>;

/// The caller asks for what its token does not let it see: there is nothing of it.
inline bool asks_elsewhere(const Context& context, const std::optional<std::string>& namespace_) {
  return context.principal.namespace_ && namespace_ && *namespace_ != *context.principal.namespace_;
}

/// How a route stands to `{"items": [...]}`.
enum class Batch : std::uint8_t { none, also, only };

/// Where a route's input comes from besides path, query and headers.
enum class Body : std::uint8_t {
  none,    ///< no body; one that is sent is measured and ignored
  object,  ///< a JSON object with the fields; none at all counts as `{}`
  tags,    ///< a JSON object that is the value of the field `tags`
  bytes,   ///< the payload itself
};

struct Route {
  std::string_view method;
  std::string_view pattern;  ///< `/v1/executions/{execution_id}/cancel`: the braces name a field
  std::string_view name;
  std::string_view summary;
  std::optional<Scope> scope;  ///< none: open to all
  Batch batch = Batch::none;
  Body body = Body::none;
  bool while_draining = false;  ///< served to the end, so that running tasks can finish
  bool takes_key = false;       ///< the header `Idempotency-Key` is the field `idempotency_key`
  int status = 200;             ///< of a first success
  bool streams = false;         ///< also as server-sent events, for a caller that accepts them
  void (*run)(const Ctx&, Input, Answer) = nullptr;
  std::vector<SchemaField> (*fields)(Schemas&) = nullptr;  ///< what it takes
  const char* blob = nullptr;                              ///< the field of its body that is kept byte for byte
  core::json::value (*reply)(Schemas&) = nullptr;          ///< what it gives; unset: no body, or raw bytes
  core::json::value (*minimal)(Schemas&) = nullptr;        ///< what it gives to a caller that prefers the bare outcome
};

/// Every route, in the order of the documentation.
const std::vector<Route>& routes();

namespace areas {
void add_executions(std::vector<Route>& table);
void add_operator_calls(std::vector<Route>& table);
void add_worker_calls(std::vector<Route>& table);
void add_lanes(std::vector<Route>& table);
void add_registry(std::vector<Route>& table);
void add_admin(std::vector<Route>& table);
void add_system(std::vector<Route>& table);
}  // namespace areas

/// A handler that takes a described type, as the table's form of one.
template <class T, void (*Handler)(const Ctx&, T, Answer)>
void decoded(const Ctx& context, Input input, Answer answer) {
  auto request = decode<T>(std::move(input));
  if (!request) return answer(std::unexpected(request.error()));
  Handler(context, std::move(*request), std::move(answer));
}

template <class T, void (*Handler)(const Ctx&, T, Answer)>
Route make_route(Route route) {
  route.run = decoded<T, Handler>;
  route.fields = fields_of<T>;
  route.blob = BlobMember<T>::kName;
  return route;
}

/// The callback of a call whose outcome becomes the reply that `make` builds of it.
template <class T, class Make>
Callback<T> answering(Answer answer, Make make) {
  return [answer = std::move(answer), make = std::move(make)](Result<T> result) mutable {
    if (!result) return answer(std::unexpected(std::move(result.error())));
    answer(make(*result));
  };
}

/// The schema of a reply that is one described value.
template <class T>
core::json::value schema_of(Schemas& schemas) {
  return schemas.of<T>();
}

/// A reply with a described value as its body.
template <class T>
Reply reply_of(const T& value, int status = 200) {
  Reply reply;
  reply.status = status;
  reply.body = core::to_json_text(value);
  return reply;
}

}  // namespace ff::server
