#pragma once

// Answers that are not one described value: pages, and plain bytes.

#include "server/route.h"

namespace ff::server {

template <class T>
Reply page_reply(const Page<T>& page) {
  core::json::object body;
  body["items"] = core::to_value(page.items);
  if (page.next_cursor) body["next_cursor"] = *page.next_cursor;
  Reply reply;
  reply.body = core::json::serialize(body);
  return reply;
}

template <class T>
core::json::value page_schema(Schemas& schemas) {
  return object_schema({{"items", list_schema(schemas.of<T>()), true}, {"next_cursor", text_schema(), false}});
}

/// Bytes as they are, with `ETag`, and only the part that a `Range` asks for; 204 when there are none. They come from
/// strangers: a browser is told to take them for nothing but what their label says, and to run none of it.
Reply raw_reply(std::optional<Blob> blob, const Headers& request);

}  // namespace ff::server
