#include "core/json_text.h"

namespace ff::core {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Walks text that a parser has accepted: it only has to find where values end.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  char skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void step() { ++at_; }

  std::string_view value() {
    skip_blanks();
    const std::size_t from = at_;
    std::size_t depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        --depth;
      } else if (depth == 0 && (c == ',' || c == ':' || is_blank(c))) {
        break;
      }
    }
    return text_.substr(from, at_ - from);
  }

 private:
  /// From the opening quote to the closing one.
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string name_of_member(std::string_view quoted) {
  if (quoted.find('\\') == quoted.npos) return std::string(quoted.substr(1, quoted.size() - 2));
  return std::string(json::parse(quoted).as_string());
}

/// The member that begins here.
RawMember read_member(Walk& walk) {
  std::string name = name_of_member(walk.value());
  walk.skip_blanks();
  walk.step();  // the colon
  return {std::move(name), walk.value()};
}

}  // namespace

std::vector<RawMember> raw_members(std::string_view object) {
  std::vector<RawMember> members;
  Walk walk(object);
  if (walk.skip_blanks() != '{') return members;
  walk.step();
  while (walk.skip_blanks() == '"') {
    members.push_back(read_member(walk));
    if (walk.skip_blanks() == ',') walk.step();
  }
  return members;
}

std::optional<RawMember> sole_member(std::string_view json) {
  Walk walk(json);
  if (walk.skip_blanks() != '{') return std::nullopt;
  walk.step();
  if (walk.skip_blanks() != '"') return std::nullopt;
  RawMember member = read_member(walk);
  return walk.skip_blanks() == '}' ? std::optional(std::move(member)) : std::nullopt;
}

std::vector<std::string_view> raw_elements(std::string_view array) {
  std::vector<std::string_view> elements;
  Walk walk(array);
  if (walk.skip_blanks() != '[') return elements;
  walk.step();
  while (true) {
    const char next = walk.skip_blanks();
    if (next == ']' || next == '\0') return elements;
    elements.push_back(walk.value());
    if (walk.skip_blanks() == ',') walk.step();
  }
}

void ObjectText::add(std::string_view name, const json::value& value) { add_text(name, json::serialize(value)); }

void ObjectText::add_text(std::string_view name, std::string_view json) {
  if (text_.size() > 1) text_ += ',';
  write_quoted(text_, name);
  text_ += ':';
  text_ += json;
}

std::string ObjectText::take() && {
  text_ += '}';
  return std::move(text_);
}

}  // namespace ff::core
