#include "server/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

namespace ff::test {
namespace {

constexpr int kPatienceSeconds = 60;

int connect_to(const std::string& url) {
  if (url.starts_with("unix:")) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    url.copy(address.sun_path, sizeof address.sun_path - 1, 5);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
    ::close(fd);
    return -1;
  }
  const std::size_t colon = url.rfind(':');
  const std::string host = url.substr(url.find("//") + 2, colon - url.find("//") - 2);
  const auto port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1))));
  sockaddr_in v4{AF_INET, port, {}, {}};
  sockaddr_in6 v6{AF_INET6, port, 0, {}, 0};
  const bool is_v6 = host.starts_with('[');
  if (is_v6)
    inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6.sin6_addr);
  else
    inet_pton(AF_INET, host.c_str(), &v4.sin_addr);
  const int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int failed = is_v6 ? connect(fd, reinterpret_cast<sockaddr*>(&v6), sizeof v6)
                           : connect(fd, reinterpret_cast<sockaddr*>(&v4), sizeof v4);
  if (failed == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

HttpClient::HttpClient(const std::string& url, const ClientTls& tls) : fd_(connect_to(url)) {
  if (fd_ < 0) return;
  const timeval patience{kPatienceSeconds, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (url.starts_with("https:") && !start_tls(tls)) close();
}

HttpClient::~HttpClient() { close(); }

HttpClient::HttpClient(HttpClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      context_(std::exchange(other.context_, nullptr)),
      ssl_(std::exchange(other.ssl_, nullptr)),
      input_(std::move(other.input_)) {}

bool HttpClient::start_tls(const ClientTls& tls) {
  context_ = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_load_verify_locations(context_, tls.ca.c_str(), nullptr) != 1) return false;
  if (!tls.cert.empty()) {
    SSL_CTX_use_certificate_chain_file(context_, tls.cert.c_str());
    SSL_CTX_use_PrivateKey_file(context_, tls.key.c_str(), SSL_FILETYPE_PEM);
  }
  ssl_ = SSL_new(context_);
  SSL_set_fd(ssl_, fd_);
  return SSL_connect(ssl_) == 1;
}

std::string HttpClient::request_text(const std::string& method, const std::string& target, const std::string& body,
                                     const server::Headers& headers) {
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  if (!body.empty()) text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + body;
}

WireAnswer HttpClient::call(const std::string& method, const std::string& target, const std::string& body,
                            const server::Headers& headers) {
  send(request_text(method, target, body, headers));
  return read_answer(method != "HEAD");
}

bool HttpClient::send(std::string_view bytes) {
  while (!bytes.empty() && fd_ >= 0) {
    const auto sent = ssl_ ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                           : static_cast<int>(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return fd_ >= 0;
}

bool HttpClient::fill() {
  if (fd_ < 0) return false;
  char bytes[16 * 1024];
  const auto got = ssl_ ? SSL_read(ssl_, bytes, sizeof bytes) : static_cast<int>(recv(fd_, bytes, sizeof bytes, 0));
  if (got <= 0) return false;
  input_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

std::string HttpClient::read_line() {
  std::size_t end = 0;
  while ((end = input_.find("\r\n")) == input_.npos)
    if (!fill()) return "";
  std::string line = input_.substr(0, end);
  input_.erase(0, end + 2);
  return line;
}

std::string HttpClient::read_bytes(std::size_t count) {
  while (input_.size() < count)
    if (!fill()) break;
  std::string bytes = input_.substr(0, count);
  input_.erase(0, bytes.size());
  return bytes;
}

WireAnswer HttpClient::read_head() {
  WireAnswer answer;
  const std::string first = read_line();
  if (!first.starts_with("HTTP/1.1 ")) return answer;
  for (std::string line = read_line(); !line.empty(); line = read_line()) {
    const std::size_t colon = line.find(": ");
    answer.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  answer.status = std::stoi(first.substr(9));
  return answer;
}

WireAnswer HttpClient::read_answer(bool has_body, bool interim) {
  WireAnswer answer = read_head();
  if (answer.status == 100) return interim ? answer : read_answer(has_body);
  if (!has_body || answer.status == 0 || answer.status == 204 || answer.status == 304) return answer;
  if (answer.header("Transfer-Encoding") == "chunked") {
    for (std::string chunk = read_chunk(); !chunk.empty(); chunk = read_chunk()) answer.body += chunk;
  } else {
    answer.body = read_bytes(static_cast<std::size_t>(std::stoull("0" + answer.header("Content-Length"))));
  }
  return answer;
}

std::string HttpClient::read_chunk() {
  const std::string line = read_line();
  std::size_t size = 0;
  std::from_chars(line.data(), line.data() + line.size(), size, 16);
  std::string chunk = read_bytes(size);
  read_line();
  return chunk;
}

std::string HttpClient::read_to_end() {
  while (fill()) {
  }
  return std::exchange(input_, "");
}

bool HttpClient::is_at_end() { return input_.empty() && !fill(); }

void HttpClient::half_close() { shutdown(fd_, SHUT_WR); }

void HttpClient::reset() {
  const linger cut{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &cut, sizeof cut);
  close();
}

void HttpClient::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  SSL_free(std::exchange(ssl_, nullptr));
  SSL_CTX_free(std::exchange(context_, nullptr));
}

void HttpClient::set_receive_buffer(int bytes) { setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); }

}  // namespace ff::test
