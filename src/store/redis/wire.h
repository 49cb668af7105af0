#pragma once

// Commands on their way to a server, and its replies.

#include "core/errors.h"

#include <hiredis/hiredis.h>

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ff::store::redis {

/// Arguments in the form of the wire.
struct Args {
  std::uint32_t count = 0;
  std::string body;

  void add(std::string_view bytes);
  template <std::integral I>
  void add(I number) {
    const fmt::format_int digits(number);
    add(std::string_view(digits.data(), digits.size()));
  }
  void append(const Args& more) {
    count += more.count;
    body += more.body;
  }
  void clear() {
    count = 0;
    body.clear();
  }
};

/// One command in the form of the wire, and where it goes. Built by appending arguments.
class Command {
 public:
  Command(std::uint16_t slot, std::string_view name) : slot_(slot) { args_.add(name); }

  template <class T>
  Command& arg(const T& value) {
    args_.add(value);
    return *this;
  }
  template <class... All>
  Command& args(const All&... all) {
    (args_.add(all), ...);
    return *this;
  }
  Command& append(const Args& more) {
    args_.append(more);
    return *this;
  }
  /// Whether it may have been applied when its reply is lost, and must then not simply be sent again.
  Command& once() {
    once_ = true;
    return *this;
  }

  std::uint16_t slot() const { return slot_; }
  bool is_once() const { return once_; }
  void append_to(std::string& wire) const;

 private:
  std::uint16_t slot_;
  bool once_ = false;
  Args args_;
};

/// A view of a reply or of a part of one; valid while the reply lives.
class Value {
 public:
  explicit Value(const redisReply* reply) : reply_(reply) {}

  bool is_nil() const { return !reply_ || reply_->type == REDIS_REPLY_NIL; }
  bool is_error() const { return reply_ && reply_->type == REDIS_REPLY_ERROR; }
  /// Empty for everything that is not text.
  std::string_view text() const;
  std::optional<std::string_view> text_if() const { return is_nil() ? std::nullopt : std::optional(text()); }
  /// A number, also when it was sent as text.
  std::int64_t number() const;
  std::size_t size() const { return reply_ && reply_->type == REDIS_REPLY_ARRAY ? reply_->elements : 0; }
  Value operator[](std::size_t at) const { return Value(at < size() ? reply_->element[at] : nullptr); }

 private:
  const redisReply* reply_;
};

/// A reply, owned. Empty: none came, and whether the command was applied is unknown.
class Reply {
 public:
  Reply() = default;
  explicit Reply(redisReply* reply) : reply_(reply) {}

  explicit operator bool() const { return reply_ != nullptr; }
  Value value() const { return Value(reply_.get()); }
  Value operator[](std::size_t at) const { return value()[at]; }

 private:
  struct Free {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  std::unique_ptr<redisReply, Free> reply_;
};

/// The error that callers hear for an error reply of the server.
Error error_of(std::string_view text);

}  // namespace ff::store::redis
