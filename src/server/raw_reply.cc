#include "server/raw_reply.h"

#include "engine/handles.h"

namespace ff::server {
namespace {

constexpr std::size_t kContentTypeBytesMax = 256;

std::string etag_of(std::string_view bytes) {
  const auto digest = engine::sha256(bytes);
  std::string tag = "\"";
  for (std::size_t i = 0; i < 16; ++i) tag += fmt::format("{:02x}", digest[i]);
  return tag + '"';
}

struct Part {
  std::size_t from = 0;
  std::size_t to = 0;  ///< the last byte
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

enum class RangeKind { whole, part, unsatisfiable };

/// One range of bytes; several, and what cannot be read, are the whole, as the standard allows.
RangeKind read_range(const std::string* header, std::size_t size, Part& part) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header || !header->starts_with(kUnit)) return RangeKind::whole;
  const std::string_view range = std::string_view(*header).substr(kUnit.size());
  const std::size_t dash = range.find('-');
  if (dash == range.npos || range.find(',') != range.npos) return RangeKind::whole;
  const auto first = number(range.substr(0, dash));
  const auto last = number(range.substr(dash + 1));
  if (dash == 0) {  // the last so many
    if (!last) return RangeKind::whole;
    if (*last == 0 || size == 0) return RangeKind::unsatisfiable;
    part = {size - std::min<std::size_t>(size, *last), size - 1};
    return RangeKind::part;
  }
  const bool open = dash + 1 == range.size();
  if (!first || (!last && !open) || (last && *last < *first)) return RangeKind::whole;
  if (*first >= size) return RangeKind::unsatisfiable;
  part = {*first, last ? std::min<std::size_t>(*last, size - 1) : size - 1};
  return RangeKind::part;
}

}  // namespace

Reply raw_reply(std::optional<Blob> blob, const Headers& request) {
  Reply reply;
  reply.status = 204;
  reply.content_type.clear();
  if (!blob) return reply;
  const std::string tag = etag_of(blob->bytes);
  const std::size_t size = blob->bytes.size();
  reply.headers = {{"ETag", tag},
                   {"Accept-Ranges", "bytes"},
                   {"X-Content-Type-Options", "nosniff"},
                   {"Content-Security-Policy", "default-src 'none'; sandbox"}};
  if (const std::string* known = find_header(request, "If-None-Match"); known && known->find(tag) != known->npos) {
    reply.status = 304;
    return reply;
  }
  Part part;
  const RangeKind kind = read_range(find_header(request, "Range"), size, part);
  if (kind == RangeKind::unsatisfiable) {
    reply.status = 416;
    reply.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
    return reply;
  }
  reply.status = 200;
  reply.content_type =
      is_printable(blob->content_type, kContentTypeBytesMax) ? blob->content_type : "application/octet-stream";
  reply.body = std::move(blob->bytes);
  if (kind == RangeKind::part) {
    reply.status = 206;
    reply.headers.emplace_back("Content-Range", fmt::format("bytes {}-{}/{}", part.from, part.to, size));
    reply.body = reply.body.substr(part.from, part.to - part.from + 1);
  }
  return reply;
}

}  // namespace ff::server
