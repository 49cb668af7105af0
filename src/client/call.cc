#include "client/call.h"

namespace ff::client {
namespace {

constexpr std::string_view kBegin = "{\"items\":[", kEnd = "]}";

}  // namespace

std::vector<CallPtr> Gathering::take(std::size_t items_max, std::size_t bytes_max) {
  std::vector<CallPtr> taken;
  std::size_t bytes = kBegin.size() + kEnd.size();
  while (!calls_.empty() && taken.size() < items_max) {
    CallPtr& next = calls_.front();
    bytes += next->wire.body.size() + 1;
    if (!taken.empty() && (bytes > bytes_max || next->alone)) break;
    taken.push_back(std::move(next));
    calls_.pop_front();
    if (taken.back()->alone) break;
  }
  return taken;
}

std::string batch_body(BatchRoute route, const std::vector<CallPtr>& calls) {
  if (calls.size() == 1 && takes_single(route)) return calls.front()->wire.body;
  std::size_t bytes = kBegin.size() + kEnd.size();
  for (const auto& call : calls) bytes += call->wire.body.size() + 1;
  std::string body;
  body.reserve(bytes);
  body += kBegin;
  for (const auto& call : calls) {
    if (body.size() > kBegin.size()) body += ',';
    body += call->wire.body;
  }
  body += kEnd;
  return body;
}

}  // namespace ff::client
