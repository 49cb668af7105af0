#pragma once

#include "cli/failure.h"
#include "cli/output.h"

#include <flowfabric/calls.h>
#include <fmt/format.h>

namespace ff::cli {

/// Prints a page of a list: one JSON object, or what `show` makes of the items, and how to go on. `none` is said when
/// there are no items.
template <class T, class Show>
int print_page(Output& output, const Page<T>& page, std::string_view none, Show&& show) {
  if (output.json()) {
    core::json::object document;
    document["items"] = core::to_value(page.items);
    if (page.next_cursor) document["next_cursor"] = *page.next_cursor;
    output.document(document);
  } else if (page.items.empty()) {
    output.remark(none);
  } else {
    show(page.items);
    if (page.next_cursor) output.remark(fmt::format("More follow: --cursor {}", *page.next_cursor));
  }
  return kDone;
}

}  // namespace ff::cli
