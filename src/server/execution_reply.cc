#include "server/execution_reply.h"

#include "server/target.h"

namespace ff::server {
namespace {

struct Links {
  std::string self, attempts, history, payload, result;
};
BOOST_DESCRIBE_STRUCT(Links, (), (self, attempts, history, payload, result))

Links links_of(const ExecutionId& id) {
  const std::string self = execution_path(id);
  return {self, self + "/attempts", self + "/history", self + "/payload", self + "/result"};
}

/// An execution on its way into an answer.
struct Building {
  Ctx context;
  Execution execution;
  std::optional<Blob> payload;
  std::optional<Blob> result;
  int status = 200;
  bool replay = false;
  Answer answer;
};
using BuildingPtr = std::unique_ptr<Building>;

bool is_small(const std::optional<std::uint64_t>& bytes) { return bytes && *bytes <= kInlineBytesMax; }

void finish(BuildingPtr building) {
  ObjectText text;
  text.add_all(building->execution);
  if (building->payload) text.add_text("payload", blob_text(building->payload->bytes, building->payload->content_type));
  if (building->result) text.add_text("result", blob_text(building->result->bytes, building->result->content_type));
  text.add("links", core::to_value(links_of(building->execution.execution_id)));
  Reply reply;
  reply.status = building->status;
  reply.replay = building->replay;
  reply.body = std::move(text).take();
  if (reply.status == 201)
    reply.headers.emplace_back("Location", execution_path(building->execution.execution_id));
  building->answer(std::move(reply));
}

void add_result(BuildingPtr building) {
  if (!is_small(building->execution.result_bytes)) return finish(std::move(building));
  api::Backend& backend = *building->context->backend;
  const ExecutionId id = building->execution.execution_id;
  backend.start(GetResult{id}, false, [building = std::move(building)](Result<std::optional<Blob>> blob) mutable {
    if (!blob) return building->answer(std::unexpected(blob.error()));
    building->result = std::move(*blob);
    finish(std::move(building));
  });
}

void add_payload(BuildingPtr building) {
  if (!is_small(building->execution.payload_bytes)) return add_result(std::move(building));
  api::Backend& backend = *building->context->backend;
  const ExecutionId id = building->execution.execution_id;
  backend.start(GetPayload{id}, false, [building = std::move(building)](Result<std::optional<Blob>> blob) mutable {
    if (!blob) return building->answer(std::unexpected(blob.error()));
    building->payload = std::move(*blob);
    add_result(std::move(building));
  });
}

}  // namespace

std::string execution_path(const ExecutionId& id) {
  return "/v1/executions/" + percent_encoded(id.to_string());
}

void answer_with_execution(const Ctx& context, Execution execution, int status, bool replay, Answer answer) {
  if (context->minimal) {
    Reply reply = reply_of(execution, status);
    reply.replay = replay;
    return answer(std::move(reply));
  }
  auto building = std::make_unique<Building>();
  building->context = context;
  building->execution = std::move(execution);
  building->status = status;
  building->replay = replay;
  building->answer = std::move(answer);
  add_payload(std::move(building));
}

void answer_with_execution(const Ctx& context, const ExecutionId& id, int status, bool replay, Answer answer) {
  context->backend->start(GetExecution{id, 0}, false,
                          [context, status, replay, answer = std::move(answer)](Result<Execution> execution) mutable {
                            if (!execution) return answer(std::unexpected(execution.error()));
                            answer_with_execution(context, std::move(*execution), status, replay, std::move(answer));
                          });
}

core::json::value execution_schema(Schemas& schemas) {
  return schemas.named("ExecutionReply", [&](core::json::object& schema) {
    core::json::object any{{"description", "A JSON value, or {\"base64\": ...} for bytes that are none. Left out above 64 KiB."}};
    schema["allOf"] = {schemas.of<Execution>(), object_schema({{"payload", any, false},
                                                               {"result", any, false},
                                                               {"links", schemas.of<Links>(), true}})};
  });
}

}  // namespace ff::server
