#include "client/http_answer.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace ff::client {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (same_word(item, word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

template <class Number>
bool read_number(std::string_view text, Number& to, int base = 10) {
  const char* end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, to, base);
  return !text.empty() && read.ec == std::errc() && read.ptr == end;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool AnswerReader::read(std::string_view bytes) {
  while (!bytes.empty()) {
    switch (stage_) {
      case Stage::head: {
        // Looks for the end of the head from where it could begin: at most three bytes of it have come already.
        const std::size_t from = head_.size() < 3 ? 0 : head_.size() - 3;
        const std::size_t before = head_.size();
        head_ += bytes.substr(0, kHeadBytesMax);
        const std::size_t end = head_.find("\r\n\r\n", from);
        if (end == head_.npos) {
          if (head_.size() >= kHeadBytesMax) return false;
          return true;
        }
        bytes.remove_prefix(end + 4 - before);
        head_.resize(end + 2);
        if (!read_head()) return false;
        break;
      }
      case Stage::sized:
      case Stage::chunk:
      case Stage::to_end:
        if (!add_body(bytes)) return false;
        break;
      case Stage::chunk_size:
        if (take_line(bytes) && !read_chunk_size()) return false;
        break;
      case Stage::chunk_end:
        if (take_line(bytes)) {
          if (!head_.empty()) return false;
          stage_ = Stage::chunk_size;
        }
        break;
      case Stage::trailer:
        if (take_line(bytes) && std::exchange(head_, "").empty()) stage_ = Stage::whole;
        break;
      case Stage::whole: return false;  // nobody asked for more
    }
    if (head_.size() > kHeadBytesMax) return false;
  }
  return true;
}

bool AnswerReader::end() {
  keeps_alive_ = false;
  if (stage_ != Stage::to_end) return false;
  stage_ = Stage::whole;
  return true;
}

HttpAnswer AnswerReader::take() {
  HttpAnswer answer = std::move(answer_);
  *this = AnswerReader();
  return answer;
}

bool AnswerReader::read_head() {
  std::string_view head = head_;
  const std::string_view first = head.substr(0, head.find("\r\n"));
  head.remove_prefix(first.size() + 2);
  if (!first.starts_with("HTTP/1.") || first.size() < 12 || first[8] != ' ') return false;
  if (!read_number(first.substr(9, 3), answer_.status) || answer_.status < 100) return false;
  keeps_alive_ = first[7] != '0';
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(line.size() + 2);
    const std::size_t colon = line.find(':');
    if (colon == line.npos || !read_header(line.substr(0, colon), trimmed(line.substr(colon + 1)))) return false;
  }
  head_.clear();
  if (answer_.status < 200) {  // an interim answer: the real one follows
    *this = AnswerReader();
    return true;
  }
  if (answer_.status == 204 || answer_.status == 304) {
    stage_ = Stage::whole;
  } else if (is_chunked_) {
    stage_ = Stage::chunk_size;
  } else if (has_length_) {
    stage_ = left_ == 0 ? Stage::whole : Stage::sized;
    answer_.body.reserve(left_);
  } else {
    stage_ = Stage::to_end;
    keeps_alive_ = false;
  }
  return true;
}

bool AnswerReader::read_header(std::string_view name, std::string_view value) {
  if (same_word(name, "Content-Length")) {
    has_length_ = true;
    return read_number(value, left_) && left_ <= kBodyBytesMax;
  }
  if (same_word(name, "Content-Type"))
    answer_.content_type = value;
  else if (same_word(name, "Transfer-Encoding"))
    return is_chunked_ = same_word(value, "chunked");
  else if (same_word(name, "Connection"))
    keeps_alive_ = has_word(value, "close") ? false : keeps_alive_ || has_word(value, "keep-alive");
  else if (same_word(name, "Retry-After"))
    read_number(value, answer_.retry_after_s);  // a date counts as none
  else if (same_word(name, "Idempotent-Replay"))
    answer_.replay = value == "true";
  return true;
}

bool AnswerReader::take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  head_ += bytes.substr(0, end);
  bytes.remove_prefix(std::min(end == bytes.npos ? bytes.size() : end + 1, bytes.size()));
  if (end == std::string_view::npos) return false;
  if (head_.ends_with('\r')) head_.pop_back();
  return true;
}

bool AnswerReader::read_chunk_size() {
  const std::string line = std::exchange(head_, "");
  if (!read_number(trimmed(std::string_view(line).substr(0, line.find(';'))), left_, 16)) return false;
  stage_ = left_ == 0 ? Stage::trailer : Stage::chunk;
  return answer_.body.size() + left_ <= kBodyBytesMax;
}

bool AnswerReader::add_body(std::string_view& bytes) {
  const std::size_t count = stage_ == Stage::to_end ? bytes.size() : std::min<std::size_t>(left_, bytes.size());
  answer_.body += bytes.substr(0, count);
  bytes.remove_prefix(count);
  if (stage_ == Stage::to_end) return answer_.body.size() <= kBodyBytesMax;
  left_ -= count;
  if (left_ == 0) stage_ = stage_ == Stage::sized ? Stage::whole : Stage::chunk_end;
  return true;
}

}  // namespace ff::client
