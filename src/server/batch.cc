#include "server/batch.h"

#include "server/request_key.h"

#include <atomic>

namespace ff::server {
namespace {

/// The answers as they come in, in any order and on any thread.
struct Gathering {
  std::vector<std::string> texts;
  std::atomic<std::size_t> left;
  Answer answer;

  void finish() {
    std::string body = "{\"items\":[";
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) body += ',';
      body += texts[i];
    }
    Reply reply;
    reply.body = body + "]}";
    answer(std::move(reply));
  }
};

std::string item_text(Result<Reply> result, const std::string& request_id) {
  ObjectText text;
  if (!result) {
    text.add_text("status", std::to_string(traits(result.error().code).http_status));
    text.add("problem", problem_document(result.error(), request_id));
  } else {
    text.add_text("status", std::to_string(result->status));
    if (!result->body.empty()) text.add_text("result", result->body);
  }
  return std::move(text).take();
}

}  // namespace

Result<std::optional<BatchItems>> batch_items(const Route& route, Input& body) {
  core::json::value* items = body.fields.if_contains("items");
  if (!items) {
    if (route.batch != Batch::only) return std::nullopt;
    return std::unexpected(input_error({"items", core::JsonFault::missing, {}}));
  }
  if (route.batch == Batch::none) return std::nullopt;  // an unknown field like any other
  for (const auto& member : body.raw)
    if (member.name != "items") return std::unexpected(input_error({member.name, core::JsonFault::unknown_member, {}}));
  if (!items->is_array()) return std::unexpected(input_error({"items", core::JsonFault::wrong_type, "a list"}));
  auto texts = raw_elements(body.raw.at(0).text);
  if (texts.size() > core::kBatchMax)
    return std::unexpected(core::invalid_input(
        "items", "too_many", fmt::format("There are {} items; {} are the most. Send several requests.", texts.size(),
                                         core::kBatchMax)));
  return BatchItems{std::move(items->get_array()), std::move(texts)};
}

void run_batch(const Route& route, const Ctx& context, BatchItems items, const std::string& request_id, Answer answer) {
  auto gathering = std::make_shared<Gathering>();
  gathering->texts.resize(items.texts.size());
  gathering->left = items.texts.size();
  gathering->answer = std::move(answer);
  if (items.texts.empty()) return gathering->finish();
  for (std::size_t i = 0; i < items.texts.size(); ++i) {
    auto done = [gathering, context, i, request_id](Result<Reply> result) {
      if (!result && is_for_the_log(result.error())) context->report(result.error());
      gathering->texts[i] = item_text(std::move(result), request_id);
      if (gathering->left.fetch_sub(1) == 1) gathering->finish();
    };
    auto input = input_of(std::move(items.values[i]), items.texts[i]);
    if (!input)
      done(std::unexpected(input.error()));
    else
      run_call(route, context, std::move(*input), {}, std::move(done));
  }
}

}  // namespace ff::server
