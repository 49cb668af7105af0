#include "core/json_write.h"

#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace ff::core {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void write_escaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto code = static_cast<unsigned char>(c);
  out.append("\\u00").append(1, kHex[code >> 4]).append(1, kHex[code & 15]);
}

}  // namespace

void write_quoted(std::string& out, std::string_view text) {
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!is_ascii && !is_utf8(text)) return write_quoted(out, clean_text(std::string(text), std::string::npos));
  out += '"';
  std::size_t plain = 0;  // where the stretch begins that needs no change
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, plain, i - plain);
    write_escaped(out, c);
    plain = i + 1;
  }
  out.append(text, plain).append(1, '"');
}

void write_json(std::string& out, double v) {
  const std::string text = fmt::format("{}", v);
  out += text;
  if (text.find_first_of(".e") == text.npos) out += ".0";  // it stays a double when it is read
}

}  // namespace ff::core
