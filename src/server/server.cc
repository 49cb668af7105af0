#include "server/server.h"

#include "api/acting.h"
#include "server/admission.h"
#include "server/batch.h"
#include "server/cors.h"
#include "server/exchange.h"
#include "server/http_metrics.h"
#include "server/page_guard.h"
#include "server/rate_limits.h"
#include "server/refusal_log.h"
#include "server/request_key.h"

namespace ff::server {
namespace {

Response response_of(Reply reply) {
  Response response;
  response.status = reply.status;
  response.headers = std::move(reply.headers);
  if (!reply.content_type.empty()) response.headers.emplace_back("Content-Type", std::move(reply.content_type));
  if (reply.replay) response.headers.emplace_back("Idempotent-Replay", "true");
  response.body = std::move(reply.body);
  response.undelivered = std::move(reply.undelivered);
  response.stream = std::move(reply.stream);
  return response;
}

bool prefers_minimal(const Headers& headers) {
  const std::string* given = find_header(headers, "Prefer");
  if (!given) return false;
  std::string_view rest = *given;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view word = rest.substr(0, std::min(rest.find(';'), comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (same_word(word, "return=minimal")) return true;
  }
  return false;
}

}  // namespace

bool Ticket::is_by_handle() const {
  const Route& route = *exchange_->match.route;
  return route.scope == Scope::worker && route.while_draining;
}

std::uint64_t Pending::deadline_ms() const { return exchange_->deadline_ms; }

bool Pending::is_waiting() const { return exchange_->is_waiting(); }

void Pending::expire() const {
  const Error error{ErrorCode::timeout,
                    "The call took longer than the server allows. It may have been carried out: look, or repeat it with the "
                    "same id, key or handle.",
                    {}};
  exchange_->expire(refusal(error, exchange_->request_id));
}

bool Pending::abandon() const { return exchange_->abandon(); }

Server::Server(std::shared_ptr<api::Backend> backend, ServerOptions options)
    : backend_(std::move(backend)),
      options_(std::move(options)),
      health_(std::make_shared<Health>(options_.steady_ms)),
      waits_(std::make_shared<Waits>()),
      requests_(std::make_shared<HttpMetrics>()),
      rates_(std::make_unique<RateLimits>(options_.rate_limit_per_token)),
      refusals_(std::make_unique<RefusalLog>(Log(options_.log))),
      log_(options_.log) {
  if (!options_.steady_us) options_.steady_us = [ms = options_.steady_ms] { return 1'000 * ms(); };
  if (!options_.acting_for)
    options_.acting_for = [backend = backend_](const core::Caller& caller) { return api::acting_for(backend, caller); };
}

Server::~Server() = default;

std::string Server::request_id_of(const Request& request) const {
  const std::string* given = find_header(request.headers, "X-Request-Id");
  return given && is_printable(*given, kRequestIdBytesMax) ? *given : options_.mint_request_id();
}

void Server::find_route(Exchange& exchange) const {
  const Request& request = exchange.request;
  auto target = parse_target(request.target);
  auto match = target ? match_route(request.method, target->segments, request.door)
                      : Result<Match>(std::unexpected(target.error()));
  if (!match) {
    exchange.nowhere = std::move(match.error());
    return;
  }
  exchange.target = std::move(*target);
  exchange.match = std::move(*match);
}

void Server::begin(Request head, Begun begun) {
  auto exchange = std::make_shared<Exchange>();
  exchange->request_id = request_id_of(head);
  exchange->head_only = head.method == "HEAD";
  exchange->deadline_ms = options_.limits.request_timeout_ms;
  exchange->waits = waits_;
  exchange->requests = requests_;
  exchange->steady_us = &options_.steady_us;
  exchange->method = head.method;
  exchange->began_us = options_.steady_us();
  exchange->begun = std::move(begun);
  exchange->request = std::move(head);
  const Request& request = exchange->request;
  if (!headers_fit(request, options_.limits)) {
    Response too_long;
    too_long.status = 431;
    return exchange->begun(std::unexpected(exchange->dressed(std::move(too_long))));
  }
  // Without a token: a browser asks before it sends one.
  if (auto may_ask = preflight(options_.cors_origins, request))
    return exchange->begun(std::unexpected(exchange->dressed(std::move(*may_ask))));
  exchange->cors = cors_headers(options_.cors_origins, request.headers);
  find_route(*exchange);
  if (!options_.authenticate || (options_.is_open && options_.is_open())) {
    if (auto fault = check_page(request, options_.cors_origins)) return refuse(exchange, *fault);
    return admit(exchange);
  }
  const bool is_open = !exchange->nowhere && !exchange->match.route->scope;
  if (is_open) return admit(exchange);
  // Before the route is judged: who is unknown learns nothing, not even what exists.
  options_.authenticate(request, [this, exchange](Result<std::optional<Principal>> found) {
    identified(exchange, std::move(found));
  });
}

void Server::identified(const ExchangePtr& exchange, Result<std::optional<Principal>> found) {
  if (!found) {
    log_.error("a token could not be looked up",
               {{"request_id", exchange->request_id}, {"error", found.error().to_string()}});
    return refuse(exchange, found.error());
  }
  if (!*found) {
    refusals_->refused(exchange->request, exchange->request_id, options_.steady_ms());
    return refuse(exchange, unauthorized());
  }
  exchange->principal = std::move(**found);
  admit(exchange);
}

void Server::refuse(const ExchangePtr& exchange, const Error& error) const {
  Response response = refusal(error, exchange->request_id);
  exchange->count(response.status);
  exchange->begun(std::unexpected(exchange->dressed(std::move(response))));
}

/// The order of the checks is part of the API: what comes first hides what comes later.
std::optional<Error> Server::why_not(const Exchange& exchange) const {
  if (exchange.nowhere) return exchange.nowhere;
  const Route& route = *exchange.match.route;
  if (auto fault = check_scope(route, exchange.principal)) return fault;
  if (route.scope)
    if (auto fault = rates_->take(exchange.principal.actor, options_.steady_ms())) return fault;
  if (health_->draining() && !route.while_draining) return draining();
  return check_body_size(exchange.request, options_.limits);
}

void Server::admit(const ExchangePtr& exchange) {
  if (auto error = why_not(*exchange)) return refuse(exchange, *error);
  Begun begun = std::move(exchange->begun);
  begun(Ticket(exchange));
}

Response Server::body_too_large(const Ticket& ticket) const {
  const Exchange& exchange = *ticket.exchange_;
  return exchange.dressed(refusal(too_large(options_.limits), exchange.request_id));
}

Response Server::bare(int status) const {
  Exchange nothing;
  nothing.request_id = options_.mint_request_id();
  Response response;
  response.status = status;
  return nothing.dressed(std::move(response));
}

Pending Server::handle(Ticket ticket, std::string body, Send send) {
  Pending pending;
  pending.exchange_ = std::move(ticket.exchange_);
  const ExchangePtr& exchange = pending.exchange_;
  exchange->send = std::move(send);
  exchange->request.body = std::move(body);
  if (auto fault = check_body_size(exchange->request, options_.limits))
    exchange->answer(refusal(*fault, exchange->request_id));
  else
    run(exchange);
  exchange->request = {};  // whoever waits for long needs none of it
  return pending;
}

void Server::run(const ExchangePtr& exchange) {
  auto context = std::make_shared<Context>();
  context->principal = std::move(exchange->principal);
  context->caller = {context->principal.namespace_, context->principal.actor, exchange->request_id,
                     std::move(exchange->request.remote), nullptr};
  context->acting_for = options_.acting_for;
  context->backend = options_.acting_for(context->caller);
  context->minimal = prefers_minimal(exchange->request.headers);
  context->limits = options_.limits;
  context->health = health_;
  context->drain = options_.drain;
  if (options_.metrics) context->metrics = [this] { return metrics_text(); };
  context->waiting = [weak = std::weak_ptr(exchange)](Wait wait) {
    if (auto alive = weak.lock())
      alive->set_wait(std::move(wait));
    else
      wait.give_up();
  };
  context->report = [log = log_, id = exchange->request_id](const Error& error) {
    log.error("a request failed", {{"request_id", id}, {"error", error.to_string()}});
  };
  auto answer = [exchange, report = context->report](Result<Reply> result) {
    if (result) return exchange->answer(response_of(std::move(*result)));
    if (is_for_the_log(result.error())) report(result.error());
    exchange->answer(refusal(result.error(), exchange->request_id));
  };

  const Route& route = *exchange->match.route;
  // The input may hold views of the body, which therefore stays where it is until the route has taken what it needs.
  auto input = read_input(route, exchange->match, exchange->target, exchange->request);
  context->headers = std::move(exchange->request.headers);
  if (!input) return answer(std::unexpected(input.error()));
  auto items = batch_items(route, *input);
  if (!items) return answer(std::unexpected(items.error()));
  if (*items) return run_batch(route, context, std::move(**items), exchange->request_id, std::move(answer));
  exchange->deadline_ms += wait_ms_of(*input);
  run_call(route, context, std::move(*input), context->headers, std::move(answer));
}

void Server::look(std::function<void(const Result<FabricInfo>&)> also) {
  backend_->start(GetInfo{}, false, [health = health_, also = std::move(also)](const Result<FabricInfo>& info) {
    health->looked(info);
    if (also) also(info);
  });
}

std::string Server::metrics_text() const {
  MetricsText text;
  requests_->write(text);
  text.family("ff_http_waiters", "gauge", "Requests that wait: long polls and streams.");
  text.value({}, std::uint64_t{waits_->size()});
  options_.metrics(text);
  return std::move(text).take();
}

void Server::drain() {
  health_->drain();
  waits_->end_all();
}

}  // namespace ff::server
