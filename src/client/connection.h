#pragma once

// One connection to the server: a request goes out, its answer comes in, then the next.

#include "client/addresses.h"
#include "client/http_answer.h"
#include "client/loop.h"
#include "client/tls.h"

#include <optional>

namespace ff::client {

/// Belongs to the thread of its loop. Its owner must not destroy it from within one of these calls.
class Connection final : public Watcher {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    /// The answer to what was sent last.
    virtual void answered(Connection& connection, HttpAnswer answer) = 0;
    /// It cannot be used any more; `why` ends a sentence.
    virtual void failed(Connection& connection, std::string why) = 0;
  };

  Connection(Loop& loop, Owner& owner, std::shared_ptr<TlsContext> tls, std::string host);
  ~Connection() override;

  /// Connects to the first of them that takes it. What is sent meanwhile goes out afterwards.
  void connect(std::vector<Address> addresses);
  /// The bytes of a request. At most one is under way.
  void send(std::string bytes);
  /// Says that nothing more is asked for; what is already on its way still comes in.
  void half_close();
  void close();

  bool is_connected() const { return stage_ == Stage::open; }
  bool is_open() const { return stage_ != Stage::closed; }
  /// It has answered before: the other side may have closed it while it rested.
  bool is_used() const { return answers_ > 0; }
  /// A byte of the answer has come.
  bool has_begun() const { return reader_.has_begun(); }
  bool keeps_alive() const { return keeps_alive_; }

  void ready(std::uint32_t events) override;

 private:
  enum class Stage : std::uint8_t { idle, connecting, greeting, open, closed };

  bool try_next_address();
  void connected();
  void go_on_greeting();
  void take_in();
  void take(std::string_view bytes);
  void at_end();
  void flush();
  void watch_for(std::uint32_t events);
  void fail(std::string why);

  Loop& loop_;
  Owner& owner_;
  std::shared_ptr<TlsContext> tls_context_;
  std::string host_;
  std::optional<TlsSession> tls_;
  Stage stage_ = Stage::idle;
  int fd_ = -1;
  std::uint32_t watched_ = 0;
  std::vector<Address> addresses_;
  std::size_t next_address_ = 0;
  std::string last_fault_;
  std::string request_;  ///< waits for the connection to be made
  std::string output_;   ///< waits for the kernel
  std::size_t sent_ = 0;
  AnswerReader reader_;
  std::uint64_t answers_ = 0;
  bool keeps_alive_ = true;
  bool is_broken_ = false;
};

}  // namespace ff::client
