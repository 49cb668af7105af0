#include "store/redis/wire.h"

#include "store/refusal.h"

#include <charconv>

namespace ff::store::redis {

void Args::add(std::string_view bytes) {
  const fmt::format_int size(bytes.size());
  body.push_back('$');
  body.append(size.data(), size.size());
  body.append("\r\n").append(bytes).append("\r\n");
  ++count;
}

void Command::append_to(std::string& wire) const {
  const fmt::format_int count(args_.count);
  wire.push_back('*');
  wire.append(count.data(), count.size());
  wire.append("\r\n").append(args_.body);
}

std::string_view Value::text() const {
  if (!reply_) return {};
  switch (reply_->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR: return {reply_->str, static_cast<std::size_t>(reply_->len)};
    default: return {};
  }
}

std::int64_t Value::number() const {
  if (!reply_) return 0;
  if (reply_->type == REDIS_REPLY_INTEGER) return reply_->integer;
  std::int64_t number = 0;
  const std::string_view digits = text();
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

Error error_of(std::string_view text) {
  const std::string_view code = text.substr(0, text.find(' '));
  if (code == "OOM")
    return {ErrorCode::resource_exhausted,
            "The server is out of memory (maxmemory is reached) and takes no writes; nothing was changed. Raise "
            "maxmemory, or let finished executions go sooner (retention).",
            {{"pool", std::string("memory")}, {"retry_after_ms", std::int64_t{1'000}}}};
  if (code == "NOAUTH" || code == "WRONGPASS" || code == "NOPERM" || text.starts_with("ERR invalid password") ||
      text.starts_with("ERR AUTH"))
    return refusal("unsafe_settings",
                   fmt::format("The server refuses this user: {}. Check user and password in the store "
                               "URL, and that the user may run functions and all commands on ff:*.",
                               text));
  if (code == "MISCONF" || code == "NOREPLICAS" || code == "LOADING" || code == "MASTERDOWN" || code == "CLUSTERDOWN" ||
      code == "READONLY" || code == "TRYAGAIN" || code == "BUSY")
    return {ErrorCode::store_unavailable, fmt::format("The server takes no commands at the moment: {}", text), {}};
  if (code == "WRONGTYPE")
    return {
        ErrorCode::corruption, fmt::format("A key of the store is not of the kind that it should be: {}", text), {}};
  return {ErrorCode::store_unavailable, fmt::format("The server refused a command: {}", text), {}};
}

}  // namespace ff::store::redis
