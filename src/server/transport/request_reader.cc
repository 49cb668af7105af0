#include "server/transport/request_reader.h"

#include <boost/beast/http/basic_parser.hpp>

namespace ff::server::transport {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

constexpr std::size_t kBodyStepBytes = 256 * 1024;  ///< a length is a claim: memory follows the bytes, not the claim

/// `/path` of `http://host/path`: the form that requests to proxies have.
std::string_view without_host(std::string_view target) {
  for (std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    return slash == target.npos ? "/" : target.substr(slash);
  }
  return target;
}

bool names_token(const std::string* list, std::string_view token) {
  return list && same_word(*list, token);
}

}  // namespace

/// Beast finds the parts; they go where they belong without a detour.
class RequestReader::Parser final : public http::basic_parser<true> {
 public:
  Request head;
  std::string chunks;
  bool too_many_fields = false;
  std::size_t hosts = 0;
  std::size_t head_bytes = 0;
  int version = 11;

 private:
  void on_request_impl(http::verb, string_view method, string_view target, int given, error_code& error) override {
    head.method.assign(method.data(), method.size());
    head.target = without_host({target.data(), target.size()});
    version = given;
    error = {};
  }
  void on_response_impl(int, string_view, int, error_code& error) override { error = {}; }
  void on_field_impl(http::field name, string_view text, string_view value, error_code& error) override {
    error = {};
    if (is_header_done()) return;  // what follows the last chunk counts for nothing
    if (name == http::field::host) ++hosts;
    too_many_fields = head.headers.size() == kHeadersMax;
    if (too_many_fields)
      error = http::error::header_limit;
    else
      head.headers.emplace_back(std::string(text.data(), text.size()), std::string(value.data(), value.size()));
  }
  void on_header_impl(error_code& error) override { error = {}; }
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code& error) override { error = {}; }
  std::size_t on_body_impl(string_view text, error_code& error) override {
    error = {};
    return text.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code& error) override { error = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view text, error_code& error) override {
    chunks.append(text.data(), text.size());
    error = {};
    return text.size();
  }
  void on_finish_impl(error_code& error) override { error = {}; }
};

RequestReader::RequestReader(const Limits& limits) : limits_(limits), parser_(std::make_unique<Parser>()) {
  // One over the limit on request line and headers is refused there, with the count that the limit is defined by; here
  // only what need not be looked at any further.
  parser_->header_limit(static_cast<std::uint32_t>(limits_.header_max_bytes + 512));
  parser_->body_limit(boost::none);
}

RequestReader::~RequestReader() = default;

bool RequestReader::has_head() const { return has_head_; }
bool RequestReader::is_whole() const { return is_whole_; }
int RequestReader::fault() const { return fault_; }
bool RequestReader::has_begun() const { return parser_->got_some(); }
bool RequestReader::keeps_alive() const { return parser_->keep_alive(); }
bool RequestReader::is_http_1_0() const { return parser_->version == 10; }
bool RequestReader::is_safe() const { return is_safe_; }
bool RequestReader::expects_continue() const { return expects_continue_; }
bool RequestReader::has_at_most(std::uint64_t bytes) const { return is_whole_ || (body_left_ > 0 && body_left_ <= bytes); }

Request RequestReader::take_head() { return std::move(parser_->head); }
std::string RequestReader::take_body() { return std::move(parser_->chunked() ? parser_->chunks : body_); }

std::size_t RequestReader::read(std::string_view bytes) {
  if (has_head_) return parser_->chunked() ? read_chunked(bytes) : read_sized(bytes);
  std::size_t blanks = 0;  // empty lines before a request are allowed
  while (!has_begun() && bytes.substr(blanks).starts_with("\r\n")) blanks += 2;
  bytes.remove_prefix(blanks);
  if (bytes.empty() || (bytes == "\r" && !has_begun())) return blanks;
  error_code error;
  const std::size_t used = parser_->put({bytes.data(), bytes.size()}, error);
  parser_->head_bytes += used;
  if (error == http::error::header_limit || parser_->head_bytes > limits_.header_max_bytes + 512)
    fault_ = 431;
  else if (error && error != http::error::need_more)
    fault_ = error == http::error::bad_version ? 505 : 400;
  else if (parser_->is_header_done())
    take_up_head();
  return blanks + used;
}

void RequestReader::take_up_head() {
  has_head_ = true;
  const Request& head = parser_->head;
  const bool encoded = find_header(head.headers, "Transfer-Encoding") != nullptr;
  // Of an encoding that we do not know we could not tell where the body ends.
  if (encoded && !parser_->chunked()) fault_ = 501;
  if (parser_->version == 11 ? parser_->hosts != 1 : parser_->hosts > 1) fault_ = 400;
  if (const std::string* expected = find_header(head.headers, "Expect")) {
    expects_continue_ = names_token(expected, "100-continue");
    if (!expects_continue_) fault_ = 417;
  }
  is_safe_ = head.method == "GET" || head.method == "HEAD";
  body_left_ = parser_->chunked() ? 0 : parser_->content_length().value_or(0);
  is_whole_ = !parser_->chunked() && body_left_ == 0;
}

std::size_t RequestReader::read_sized(std::string_view bytes) {
  const auto used = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), body_left_));
  body_.resize(body_filled_);
  body_.append(bytes.substr(0, used));
  filled(used);
  return used;
}

std::span<char> RequestReader::room() {
  if (!has_head_ || is_whole_ || parser_->chunked()) return {};
  const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, kBodyStepBytes));
  // Who has sent that much means it: the rest fits without moving what is there.
  if (body_filled_ >= kBodyStepBytes) body_.reserve(body_filled_ + static_cast<std::size_t>(body_left_));
  body_.resize_and_overwrite(body_filled_ + step, [](char*, std::size_t size) { return size; });
  return {body_.data() + body_filled_, step};
}

void RequestReader::filled(std::size_t bytes) {
  body_filled_ += bytes;
  body_left_ -= bytes;
  if (body_left_ > 0) return;
  is_whole_ = true;
  body_.resize(body_filled_);
}

std::size_t RequestReader::read_chunked(std::string_view bytes) {
  parser_->eager(true);
  error_code error;
  const std::size_t used = parser_->put({bytes.data(), bytes.size()}, error);
  // A line between chunks, or what follows the last, cannot be longer than a head.
  const bool line_too_long = error == http::error::need_more && bytes.size() - used > limits_.header_max_bytes;
  if (parser_->chunks.size() > limits_.body_max_bytes)
    fault_ = 413;
  else if (line_too_long || (error && error != http::error::need_more))
    fault_ = 400;
  is_whole_ = parser_->is_done();
  return used;
}

}  // namespace ff::server::transport
