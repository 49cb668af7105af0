#include "client/json_out.h"

#include "core/text.h"

#include <algorithm>

namespace ff::client {
namespace {

bool needs_no_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

void append_escaped(std::string& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  if (std::all_of(text.begin(), text.end(), needs_no_escape))
    out += text;
  else if (core::is_utf8(text))
    append_escaped(out, text);
  else
    append_escaped(out, core::clean_text(std::string(text), std::string::npos));
  out += '"';
}

}  // namespace ff::client
