#pragma once

// Requests over as few connections as do. Connections stay open between requests.

#include "client/connection.h"
#include "client/options.h"

#include <deque>
#include <unordered_map>

namespace ff::client {

struct HttpRequest {
  std::string_view method = "GET";
  std::string target;  ///< below the endpoint's base path
  std::string body;
  std::string content_type = "application/json";
  std::string key;             ///< `Idempotency-Key`; empty: none
  std::uint32_t wait_ms = 0;   ///< how long the server may take before it looks for an answer
  bool apart = false;          ///< waits for something to happen: not to be counted among those that are soon over
};

/// Belongs to the thread of its loop.
class HttpPool final : private Connection::Owner {
 public:
  using Id = std::uint64_t;
  /// The answer, or how a sentence that begins with the server's name goes on.
  using Done = std::move_only_function<void(std::expected<HttpAnswer, std::string>)>;

  HttpPool(std::shared_ptr<Loop> loop, Endpoint endpoint, std::shared_ptr<TlsContext> tls, const ClientOptions& options);

  /// `done` is called once, later and not from here.
  Id send(HttpRequest request, Done done);
  /// Nobody waits for it any more. What is on its way is still delivered; else `done` gets an answer with status 0.
  void give_up(Id id);
  /// Frees what has ended; to be called between events.
  void tidy();

  std::size_t under_way() const { return exchanges_.size(); }
  std::size_t connections() const { return connections_.size(); }

 private:
  /// Idle connections beyond this are closed.
  static constexpr std::size_t kIdleMax = 64;
  /// How long what is given up may still come in.
  static constexpr std::uint32_t kGoodbyeMs = 5'000;

  struct Exchange {
    Id id = 0;
    std::string bytes;
    bool apart = false;
    bool begun = false;
    bool given_up = false;
    std::int64_t timeout_ms = 0;
    Done done;
    Connection* connection = nullptr;
    Loop::TimerId timer;
  };

  std::string request_bytes(const HttpRequest& request) const;
  void begin(Exchange& exchange);
  Connection& any_connection();
  Connection& open_connection();
  bool is_still(const Connection* connection, std::uint64_t serial) const;
  void put(Exchange& exchange, Connection& connection);
  void finish(Exchange& exchange, std::expected<HttpAnswer, std::string> outcome);
  void begin_waiting();
  void drop(Connection& connection);

  void answered(Connection& connection, HttpAnswer answer) override;
  void failed(Connection& connection, std::string why) override;

  std::shared_ptr<Loop> loop_;
  Endpoint endpoint_;
  std::shared_ptr<TlsContext> tls_;
  ClientOptions options_;
  AddressBook addresses_;
  std::string head_;  ///< the headers of every request
  Id last_id_ = 0;
  std::unordered_map<Id, std::unique_ptr<Exchange>> exchanges_;
  std::deque<Id> waiting_;        ///< for a connection
  std::uint32_t soon_over_ = 0;   ///< exchanges on connections that do not wait for something to happen
  struct Held {
    std::unique_ptr<Connection> connection;
    std::uint64_t serial = 0;  ///< tells it from an earlier one at the same place in memory
  };
  std::uint64_t last_serial_ = 0;
  std::unordered_map<const Connection*, Held> connections_;
  std::unordered_map<const Connection*, Exchange*> busy_;
  std::vector<Connection*> idle_;
  std::vector<std::unique_ptr<Connection>> ended_;
};

}  // namespace ff::client
