#include "server/server.h"

#include "api/acting.h"
#include "server/admission.h"
#include "server/batch.h"
#include "server/cors.h"

namespace ff::server {

/// Claims that wait, so that a drain can end them.
struct WaitingClaims {
  std::mutex mutex;
  bool draining = false;
  std::uint64_t next = 0;
  std::map<std::uint64_t, ClaimCall> claims;
};

struct Pending::State {
  std::string request_id;
  bool head = false;
  Headers cors;
  std::uint64_t deadline_ms = 0;
  std::shared_ptr<WaitingClaims> waiting;

  std::mutex mutex;
  bool over = false;  ///< answered, or nobody waits for the answer
  Server::Send send;
  ClaimCall claim;
  std::optional<std::uint64_t> registered;

  void answer(Response response);
  /// False when it was over already.
  bool end(Server::Send* send_to);
  void set_claim(ClaimCall call);
  void cancel_claim();
};

namespace {

Response response_of(Reply reply) {
  Response response;
  response.status = reply.status;
  response.headers = std::move(reply.headers);
  if (!reply.content_type.empty()) response.headers.emplace_back("Content-Type", std::move(reply.content_type));
  if (reply.replay) response.headers.emplace_back("Idempotent-Replay", "true");
  response.body = std::move(reply.body);
  response.undelivered = std::move(reply.undelivered);
  return response;
}

Response refusal(const Error& error, const std::string& request_id) {
  Response response = problem_response(error, request_id);
  if (error.code == ErrorCode::unauthorized) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (error.code == ErrorCode::method_not_allowed)
    response.headers.emplace_back("Allow", std::string(error.context.text("allow")));
  return response;
}

/// What every answer has.
void dress(Response& response, const std::string& request_id, bool head) {
  response.headers.emplace_back("X-Request-Id", request_id);
  if (response.status != 204 && response.status != 304)
    response.headers.emplace_back("Content-Length", std::to_string(response.body.size()));
  if (head) response.body.clear();
}

}  // namespace

bool Pending::State::end(Server::Send* send_to) {
  std::optional<std::uint64_t> known;
  {
    std::lock_guard guard(mutex);
    if (std::exchange(over, true)) return false;
    *send_to = std::move(send);
    known = registered;
  }
  if (known) {
    std::lock_guard guard(waiting->mutex);
    waiting->claims.erase(*known);
  }
  return true;
}

void Pending::State::answer(Response response) {
  Server::Send send_to;
  if (!end(&send_to)) {
    if (response.undelivered) response.undelivered();
    return;
  }
  response.headers.insert(response.headers.end(), cors.begin(), cors.end());
  dress(response, request_id, head);
  send_to(std::move(response));
}

void Pending::State::set_claim(ClaimCall call) {
  std::unique_lock guard(mutex);
  const bool was_over = over;
  claim = call;
  bool end_now = was_over;
  if (!was_over) {
    std::lock_guard all(waiting->mutex);
    end_now = waiting->draining;
    registered = waiting->next++;
    waiting->claims.emplace(*registered, call);
  }
  guard.unlock();
  if (end_now) call.cancel();
}

void Pending::State::cancel_claim() {
  ClaimCall call;
  {
    std::lock_guard guard(mutex);
    call = claim;
  }
  call.cancel();
}

std::uint64_t Pending::deadline_ms() const { return state_->deadline_ms; }

void Pending::expire() const {
  const Error error{ErrorCode::timeout,
                    "The call took longer than the server allows. It may have been carried out: look, or repeat it with the "
                    "same id, key or handle.",
                    {}};
  state_->answer(refusal(error, state_->request_id));
  state_->cancel_claim();
}

void Pending::abandon() const {
  Server::Send nobody;
  state_->end(&nobody);
  state_->cancel_claim();
}

/// What is known of a request before its body is looked at.
struct Server::Admitted {
  Target target;
  Match match;
  Principal principal;
};

Server::Server(std::shared_ptr<api::Backend> backend, ServerOptions options)
    : backend_(std::move(backend)),
      options_(std::move(options)),
      health_(std::make_shared<Health>(options_.steady_ms)),
      waiting_(std::make_shared<WaitingClaims>()),
      log_(options_.log) {}

Server::~Server() = default;

std::string Server::request_id_of(const Request& request) const {
  const std::string* given = find_header(request.headers, "X-Request-Id");
  return given && is_printable(*given, kRequestIdBytesMax) ? *given : options_.mint_request_id();
}

Result<Server::Admitted> Server::admit(const Request& request) const {
  Admitted admitted;
  auto target = parse_target(request.target);
  auto match = target ? match_route(request.method, target->segments) : Result<Match>(std::unexpected(target.error()));
  const bool open = match && !match->route->scope;
  // Before the route is judged: who is unknown learns nothing, not even what exists.
  if (options_.authenticate && !open) {
    auto principal = options_.authenticate(request);
    if (!principal) return std::unexpected(unauthorized());
    admitted.principal = std::move(*principal);
  }
  if (!match) return std::unexpected(match.error());
  if (auto fault = check_scope(*match->route, admitted.principal)) return std::unexpected(std::move(*fault));
  if (health_->draining() && !match->route->while_draining) return std::unexpected(draining());
  if (auto fault = check_body_size(request, options_.limits)) return std::unexpected(std::move(*fault));
  admitted.target = std::move(*target);
  admitted.match = std::move(*match);
  return admitted;
}

std::optional<Response> Server::refuse_early(const Request& head) {
  const std::string id = request_id_of(head);
  Response response;
  if (!headers_fit(head, options_.limits)) {
    response.status = 431;
  } else {
    if (preflight(options_.cors_origins, head)) return std::nullopt;
    auto admitted = admit(head);
    if (admitted) return std::nullopt;
    response = refusal(admitted.error(), id);
    for (auto& header : cors_headers(options_.cors_origins, head.headers)) response.headers.push_back(std::move(header));
  }
  dress(response, id, head.method == "HEAD");
  return response;
}

Pending Server::handle(Request request, Send send) {
  Pending pending;
  pending.state_ = std::make_shared<Pending::State>();
  auto& state = pending.state_;
  state->request_id = request_id_of(request);
  state->head = request.method == "HEAD";
  state->deadline_ms = options_.limits.request_timeout_ms;
  state->waiting = waiting_;
  state->send = std::move(send);
  if (!headers_fit(request, options_.limits)) {
    Response bare;
    bare.status = 431;
    state->answer(std::move(bare));
    return pending;
  }
  // Without a token: a browser asks before it sends one.
  if (auto may_ask = preflight(options_.cors_origins, request)) {
    state->answer(std::move(*may_ask));
    return pending;
  }
  state->cors = cors_headers(options_.cors_origins, request.headers);
  auto admitted = admit(request);
  if (!admitted)
    state->answer(refusal(admitted.error(), state->request_id));
  else
    run(std::move(*admitted), request, state);
  return pending;
}

void Server::run(Admitted admitted, const Request& request, const std::shared_ptr<Pending::State>& state) {
  auto context = std::make_shared<Context>();
  const Principal& principal = admitted.principal;
  context->backend = options_.acting_for ? options_.acting_for(principal)
                                         : api::acting_for(backend_, {principal.namespace_, principal.actor});
  context->principal = std::move(admitted.principal);
  context->limits = options_.limits;
  context->headers = request.headers;
  context->health = health_;
  context->waiting = [weak = std::weak_ptr(state)](ClaimCall call) {
    if (auto alive = weak.lock())
      alive->set_claim(std::move(call));
    else
      call.cancel();
  };
  context->report = [log = log_, id = state->request_id](const Error& error) {
    log.error("a request failed", {{"request_id", id}, {"error", error.to_string()}});
  };
  auto answer = [state, report = context->report](Result<Reply> result) {
    if (result) return state->answer(response_of(std::move(*result)));
    if (is_for_the_log(result.error())) report(result.error());
    state->answer(refusal(result.error(), state->request_id));
  };

  const Route& route = *admitted.match.route;
  auto input = read_input(route, admitted.match, admitted.target, request);
  if (!input) return answer(std::unexpected(input.error()));
  auto items = batch_items(route, *input);
  if (!items) return answer(std::unexpected(items.error()));
  if (*items) return run_batch(route, context, **items, state->request_id, std::move(answer));
  state->deadline_ms += wait_ms_of(*input);
  route.run(context, std::move(*input), std::move(answer));
}

void Server::look() {
  backend_->start(GetInfo{}, false, [health = health_](const Result<FabricInfo>& info) { health->looked(info); });
}

void Server::drain() {
  health_->drain();
  std::map<std::uint64_t, ClaimCall> claims;
  {
    std::lock_guard guard(waiting_->mutex);
    waiting_->draining = true;
    claims = waiting_->claims;
  }
  for (const auto& [id, call] : claims) call.cancel();
}

}  // namespace ff::server
