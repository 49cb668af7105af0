#include "server/docs_page.h"

#include "server/route_match.h"
#include "version.h"

namespace ff::server {
namespace {

constexpr std::string_view kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3em .8em .3em 0;border-bottom:1px solid #ddd;"
    "vertical-align:top}code{font:13px ui-monospace,monospace}";

std::string row(const Route& route) {
  return fmt::format("<tr><td><code>{}</code></td><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n", route.method,
                     route.pattern, route.scope ? name_of(*route.scope) : "open", route.summary);
}

std::string make_page() {
  std::string rows;
  for (const Route& route : routes()) rows += row(route);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>FlowFabric {0}</title><style>{1}</style>"
      "</head>\n<body><h1>FlowFabric {0}</h1>\n<p>Every call, with the scope that its token needs. "
      "<a href=\"openapi.json\">openapi.json</a> has what each takes and gives.</p>\n"
      "<table><tr><th>method</th><th>path</th><th>scope</th><th>what it does</th></tr>\n{2}</table></body></html>\n",
      kVersion, kStyle, rows);
}

}  // namespace

const std::string& docs_page() {
  static const std::string page = make_page();
  return page;
}

}  // namespace ff::server
