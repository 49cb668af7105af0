#include "client/http_pool.h"

#include "version.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ff::client {

HttpPool::HttpPool(std::shared_ptr<Loop> loop, Endpoint endpoint, std::shared_ptr<TlsContext> tls,
                   const ClientOptions& options)
    : loop_(std::move(loop)),
      endpoint_(std::move(endpoint)),
      tls_(std::move(tls)),
      options_(options),
      addresses_(endpoint_, loop_) {
  // Short answers: the reply of the call, without the whole execution.
  head_ = fmt::format(" HTTP/1.1\r\nHost: {}\r\nUser-Agent: flowfabric/{}\r\nPrefer: return=minimal\r\n",
                      endpoint_.authority(), kVersion);
  if (options_.token) head_ += "Authorization: Bearer " + *options_.token + "\r\n";
}

std::string HttpPool::request_bytes(const HttpRequest& request) const {
  std::string bytes;
  bytes.reserve(request.method.size() + request.target.size() + head_.size() + request.body.size() + 160);
  bytes += request.method;
  bytes += ' ';
  bytes += endpoint_.base_path;
  bytes += request.target;
  bytes += head_;
  if (!request.key.empty()) bytes += "Idempotency-Key: " + request.key + "\r\n";
  if (request.method != "GET") {
    if (!request.body.empty()) bytes += "Content-Type: " + request.content_type + "\r\n";
    bytes += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  bytes += "\r\n";
  bytes += request.body;
  return bytes;
}

HttpPool::Id HttpPool::send(HttpRequest request, Done done) {
  auto made = std::make_unique<Exchange>();
  Exchange& exchange = *made;
  exchange.id = ++last_id_;
  exchange.bytes = request_bytes(request);
  exchange.apart = request.apart;
  exchange.timeout_ms = std::int64_t{options_.request_timeout_ms} + request.wait_ms;
  exchange.done = std::move(done);
  exchange.timer = loop_->none();
  exchanges_.emplace(exchange.id, std::move(made));
  if (!exchange.apart && soon_over_ >= options_.connections_max)
    waiting_.push_back(exchange.id);
  else
    begin(exchange);
  return last_id_;
}

void HttpPool::begin(Exchange& exchange) {
  exchange.begun = true;
  if (!exchange.apart) ++soon_over_;
  exchange.timer = loop_->after(exchange.timeout_ms, [this, id = exchange.id] {
    auto found = exchanges_.find(id);
    if (found == exchanges_.end()) return;
    Exchange& late = *found->second;
    late.timer = loop_->none();
    if (late.connection) {
      busy_.erase(late.connection);
      drop(*late.connection);
    }
    finish(late, std::unexpected(fmt::format("did not answer within {} ms", late.timeout_ms)));
  });
  put(exchange, any_connection());
}

Connection& HttpPool::any_connection() {
  if (idle_.empty()) return open_connection();
  // The one that was used last is the least likely to have been closed by the other side.
  Connection& connection = *idle_.back();
  idle_.pop_back();
  return connection;
}

Connection& HttpPool::open_connection() {
  const std::uint64_t serial = ++last_serial_;
  Connection::Owner& owner = *this;
  auto made = std::make_unique<Connection>(*loop_, owner, tls_, endpoint_.host);
  Connection* connection = made.get();
  connections_[connection] = {std::move(made), serial};
  // Later, so that nothing fails while it is being put together.
  loop_->after(0, [this, connection, serial] {
    if (!is_still(connection, serial)) return;
    addresses_.find([this, connection, serial](const std::expected<std::vector<Address>, std::string>& found) {
      if (!is_still(connection, serial)) return;
      if (!found) return failed(*connection, "could not be reached: " + found.error());
      connection->connect(*found);
    });
  });
  loop_->after(options_.connect_timeout_ms, [this, connection, serial] {
    if (!is_still(connection, serial) || connection->is_connected()) return;
    connection->close();
    failed(*connection, fmt::format("could not be reached within {} ms", options_.connect_timeout_ms));
  });
  return *connection;
}

bool HttpPool::is_still(const Connection* connection, std::uint64_t serial) const {
  auto found = connections_.find(connection);
  return found != connections_.end() && found->second.serial == serial;
}

void HttpPool::put(Exchange& exchange, Connection& connection) {
  exchange.connection = &connection;
  busy_.emplace(&connection, &exchange);
  connection.send(exchange.bytes);
}

void HttpPool::finish(Exchange& exchange, std::expected<HttpAnswer, std::string> outcome) {
  if (exchange.timer != loop_->none()) loop_->cancel(exchange.timer);
  if (exchange.begun && !exchange.apart) --soon_over_;
  Done done = std::move(exchange.done);
  exchanges_.erase(exchange.id);
  done(std::move(outcome));
  begin_waiting();
}

void HttpPool::begin_waiting() {
  while (!waiting_.empty() && soon_over_ < options_.connections_max) {
    auto found = exchanges_.find(waiting_.front());
    waiting_.pop_front();
    if (found != exchanges_.end()) begin(*found->second);
  }
}

void HttpPool::give_up(Id id) {
  auto found = exchanges_.find(id);
  if (found == exchanges_.end() || found->second->given_up) return;
  Exchange& exchange = *found->second;
  exchange.given_up = true;
  if (!exchange.connection || !exchange.connection->is_connected()) {
    // It has not left yet.
    if (exchange.connection) {
      busy_.erase(exchange.connection);
      drop(*exchange.connection);
    }
    return finish(exchange, HttpAnswer());
  }
  exchange.connection->half_close();
  loop_->after(kGoodbyeMs, [this, id] {
    auto late = exchanges_.find(id);
    if (late == exchanges_.end()) return;
    late->second->connection->close();
    failed(*late->second->connection, "did not answer");
  });
}

void HttpPool::drop(Connection& connection) {
  connection.close();
  std::erase(idle_, &connection);
  auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  ended_.push_back(std::move(found->second.connection));
  connections_.erase(found);
}

void HttpPool::tidy() { ended_.clear(); }

void HttpPool::answered(Connection& connection, HttpAnswer answer) {
  auto found = busy_.find(&connection);
  if (found == busy_.end()) return drop(connection);  // nobody asked
  Exchange& exchange = *found->second;
  busy_.erase(found);
  if (connection.is_open() && connection.keeps_alive() && !exchange.given_up && idle_.size() < kIdleMax)
    idle_.push_back(&connection);
  else
    drop(connection);
  finish(exchange, std::move(answer));
}

void HttpPool::failed(Connection& connection, std::string why) {
  const bool was_used = connection.is_used();
  const bool has_begun = connection.has_begun();
  auto found = busy_.find(&connection);
  Exchange* exchange = found == busy_.end() ? nullptr : found->second;
  if (exchange) busy_.erase(found);
  drop(connection);
  if (!was_used) addresses_.distrust();
  if (!exchange) return;
  exchange->connection = nullptr;
  if (exchange->given_up) return finish(*exchange, HttpAnswer());
  // It was closed while it rested, most likely: another one is tried at once, a new one at last.
  if (was_used && !has_begun) return put(*exchange, any_connection());
  finish(*exchange, std::unexpected(std::move(why)));
}

}  // namespace ff::client
