#include "server/transport/answer_text.h"

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace ff::server::transport {
namespace {

std::string_view reason_of(int status) {
  const auto known = boost::beast::http::int_to_status(static_cast<unsigned>(status));
  const auto reason = boost::beast::http::obsolete_reason(known);
  return {reason.data(), reason.size()};
}

/// Nothing that somebody made us write may begin a line of its own.
bool is_one_line(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos; }

void add(std::string& text, std::string_view name, std::string_view value) {
  if (!is_one_line(value)) return;
  text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string head_text(const Response& response, const AnswerForm& form) {
  std::string text;
  text.reserve(256 + 48 * response.headers.size());
  fmt::format_to(std::back_inserter(text), "HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  for (const auto& [name, value] : response.headers) add(text, name, value);
  add(text, "Date", form.date);
  if (form.in_chunks) add(text, "Transfer-Encoding", "chunked");
  if (form.closes)
    add(text, "Connection", "close");
  else if (form.http_1_0)
    add(text, "Connection", "keep-alive");
  text += "\r\n";
  return text;
}

std::string chunk_text(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

}  // namespace ff::server::transport
