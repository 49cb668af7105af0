#include "store/postgres/url.h"

#include "store/refusal.h"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>

namespace ff::store::postgres {
namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

bool is_schema_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Cuts our own parameter out of the query part; libpq refuses names that it does not know.
std::string cut_parameter(std::string& url, std::string_view name) {
  const std::size_t question = url.find('?');
  if (question == std::string::npos) return {};
  std::string value, kept;
  std::string_view rest = std::string_view(url).substr(question + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view item = rest.substr(0, end);
    rest = end == rest.size() ? std::string_view() : rest.substr(end + 1);
    if (item.starts_with(name) && item.size() > name.size() && item[name.size()] == '=')
      value = item.substr(name.size() + 1);
    else
      kept.append(kept.empty() ? "?" : "&").append(item);
  }
  url = url.substr(0, question) + kept;
  return value;
}

}  // namespace

Result<Target> parse_url(const std::string& url) {
  Target target;
  target.conninfo = url;
  target.schema = cut_parameter(target.conninfo, "schema");
  if (target.schema.empty()) target.schema = "public";
  if (!is_schema_name(target.schema))
    return std::unexpected(
        refusal("invalid_url", "The schema in the store URL may have small letters, digits and '_' only."));
  char* why = nullptr;
  std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(target.conninfo.c_str(), &why));
  if (!options) {
    // libpq quotes the text that it could not read, which may hold the password.
    PQfreemem(why);
    return std::unexpected(refusal("invalid_url",
                                   "The store URL cannot be read. Write postgres://user@host:5432/database; further "
                                   "parameters of libpq go after '?', as in ?sslmode=require."));
  }
  std::string host, port, database;
  for (const PQconninfoOption* option = options.get(); option->keyword; ++option) {
    if (!option->val) continue;
    const std::string_view name = option->keyword;
    if (name == "host" || (name == "hostaddr" && host.empty())) host = option->val;
    if (name == "port") port = option->val;
    if (name == "dbname") database = option->val;
  }
  target.shown = host.empty() ? "local" : host;
  if (!port.empty()) target.shown += ":" + port;
  target.shown += "/" + database;
  if (target.schema != "public") target.shown += "?schema=" + target.schema;
  return target;
}

}  // namespace ff::store::postgres
