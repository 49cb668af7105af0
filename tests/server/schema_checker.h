#pragma once

// Does a JSON value match a schema of the OpenAPI document? Knows the words that our documents use, and objects to others.

#include "core/json.h"

#include <string>
#include <vector>

namespace ff::test {

namespace json = core::json;

class SchemaChecker {
 public:
  explicit SchemaChecker(json::object document) : document_(std::move(document)) {}

  /// What does not match, one line each. Members that the schema does not name are faults too: nothing is undocumented.
  std::vector<std::string> faults(const json::value& value, const json::value& schema) const;
  /// The schema of an answer; null when the document has none for it.
  const json::value* answer_schema(std::string_view pattern, std::string_view method, int status) const;
  /// The value that a `$ref` points at; null when nothing is there.
  const json::value* resolve(std::string_view reference) const;
  const json::object& document() const { return document_; }

 private:
  void check(const json::value& value, const json::value& schema, const std::string& path,
             std::vector<std::string>& out) const;
  void check_object(const json::object& value, const json::object& schema, const std::string& path,
                    std::vector<std::string>& out) const;
  /// The members that a schema and all it is made of name.
  void collect(const json::object& schema, std::vector<std::string>& names, bool& open) const;

  json::object document_;
};

}  // namespace ff::test
