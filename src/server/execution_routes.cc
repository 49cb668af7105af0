// Executions: creating them, reading them, waiting for them.

#include "server/event_text.h"
#include "server/execution_reply.h"
#include "server/history_stream.h"
#include "server/raw_reply.h"

#include <atomic>

namespace ff::server {

struct OneExecution {
  ExecutionId execution_id;
};
BOOST_DESCRIBE_STRUCT(OneExecution, (), (execution_id))

struct ExecutionsQuery {
  ExecutionFilter filter;
  std::string cursor;
  std::uint32_t limit = 50;
  std::string sort = "created";
};
BOOST_DESCRIBE_STRUCT(ExecutionsQuery, (), (filter, cursor, limit, sort))

struct AttemptsQuery {
  ExecutionId execution_id;
  std::optional<std::uint32_t> cursor;
  std::uint32_t limit = 50;
};
BOOST_DESCRIBE_STRUCT(AttemptsQuery, (), (execution_id, cursor, limit))

struct HistoryQuery {
  ExecutionId execution_id;
  std::string cursor;
  std::uint32_t limit = 50;
  std::uint32_t wait_ms = 0;
  bool follow = false;
};
BOOST_DESCRIBE_STRUCT(HistoryQuery, (), (execution_id, cursor, limit, wait_ms, follow))

namespace {

void create_execution(const Ctx& context, Submission submission, Answer answer) {
  if (!submission.creator_identity) submission.creator_identity = context->principal.name;
  const std::string* trace = find_header(context->headers, "traceparent");
  if (trace && !submission.traceparent) submission.traceparent = *trace;
  context->backend->start(std::move(submission), false,
                          [context, answer = std::move(answer)](Result<Submitted> submitted) mutable {
                            if (!submitted) return answer(std::unexpected(submitted.error()));
                            answer_changed(context, submitted->execution_id, *submitted, submitted->duplicate ? 200 : 201,
                                           submitted->duplicate, std::move(answer));
                          });
}

void get_execution(const Ctx& context, OneExecution request, Answer answer) {
  answer_with_execution(context, request.execution_id, 200, false, std::move(answer));
}

/// Two ways lead to the answer: the wait, and a look at what there is when the server shuts down. The first one counts.
class FirstAnswer {
 public:
  explicit FirstAnswer(Answer answer) : answer_(std::move(answer)) {}

  void operator()(Result<Reply> result) {
    if (!given_.exchange(true)) answer_(std::move(result));
  }

 private:
  std::atomic<bool> given_ = false;
  Answer answer_;
};

void wait_for_execution(const Ctx& context, GetExecution request, Answer answer) {
  auto first = std::make_shared<FirstAnswer>(std::move(answer));
  auto look = [context, first, id = request.execution_id] {
    answer_with_execution(context, id, 200, false, [first](Result<Reply> result) { (*first)(std::move(result)); });
  };
  context->backend->start(std::move(request), false, [context, first](Result<Execution> execution) {
    auto tell = [first](Result<Reply> result) { (*first)(std::move(result)); };
    if (!execution) return tell(std::unexpected(execution.error()));
    answer_with_execution(context, std::move(*execution), 200, false, tell);
  });
  // The engine lets go of a wait by itself when its time is over; nothing is handed out by it.
  context->waiting({look, [] {}});
}

void list_executions(const Ctx& context, ExecutionsQuery query, Answer answer) {
  static const std::map<std::string_view, ListOrder> orders = {{"created", ListOrder::newest_first},
                                                               {"-created", ListOrder::oldest_first},
                                                               {"priority", ListOrder::priority}};
  const auto order = orders.find(query.sort);
  if (order == orders.end())
    return answer(std::unexpected(core::invalid_input("sort", "unknown_value",
                                                      "'sort' has to be one of created (newest first), -created (oldest "
                                                      "first), priority (highest first).")));
  if (asks_elsewhere(*context, query.filter.namespace_)) return answer(page_reply(Page<ExecutionSummary>{}));
  ListExecutions request{std::move(query.filter), std::move(query.cursor), query.limit, order->second};
  context->backend->start(std::move(request), false,
                          answering<Page<ExecutionSummary>>(std::move(answer), page_reply<ExecutionSummary>));
}

void list_attempts(const Ctx& context, AttemptsQuery query, Answer answer) {
  context->backend->start(ListAttempts{query.execution_id, query.cursor, query.limit}, false,
                          answering<Page<Attempt>>(std::move(answer), page_reply<Attempt>));
}

/// The first page is read before anything is answered: what is wrong with the request is told by the status.
void follow_history(const Ctx& context, HistoryQuery query, Answer answer) {
  if (const std::string* place = find_header(context->headers, "Last-Event-ID")) query.cursor = *place;
  ReadHistory first{query.execution_id, query.cursor, HistoryStream::kPage};
  auto make = [context, query](const Page<Event>& page) {
    Reply reply;
    reply.content_type = "text/event-stream";
    reply.headers = {{"Cache-Control", "no-store"}};
    reply.stream = std::make_shared<HistoryStream>(context, query.execution_id, query.cursor, page);
    return reply;
  };
  context->backend->start(std::move(first), false, answering<Page<Event>>(std::move(answer), std::move(make)));
}

void read_history(const Ctx& context, HistoryQuery query, Answer answer) {
  if (query.follow || accepts_events(context->headers))
    return follow_history(context, std::move(query), std::move(answer));
  auto first = std::make_shared<FirstAnswer>(std::move(answer));
  auto read = [context, first, query](std::uint32_t wait_ms) {
    ReadHistory request{query.execution_id, query.cursor, query.limit, wait_ms};
    auto tell = [first](Result<Reply> result) { (*first)(std::move(result)); };
    context->backend->start(std::move(request), false, answering<Page<Event>>(tell, page_reply<Event>));
  };
  read(query.wait_ms);
  if (query.wait_ms > 0) context->waiting({[read] { read(0); }, [] {}});
}

template <class Request>
void get_bytes(const Ctx& context, Request request, Answer answer) {
  auto reply = [context](std::optional<Blob>& blob) { return raw_reply(std::move(blob), context->headers); };
  context->backend->start(std::move(request), false, answering<std::optional<Blob>>(std::move(answer), std::move(reply)));
}

}  // namespace

void areas::add_executions(std::vector<Route>& table) {
  auto add = [&](Route route, auto* reply, core::json::value (*minimal)(Schemas&) = nullptr) {
    route.reply = reply;
    route.minimal = minimal;
    table.push_back(route);
  };
  constexpr auto kNoBody = static_cast<core::json::value (*)(Schemas&)>(nullptr);
  add(make_route<Submission, create_execution>({"POST", "/v1/executions", "create_execution",
                                      "Create an execution, or many.", Scope::submit, Batch::also, Body::object, false,
                                      true, 201}),
      execution_schema, schema_of<Submitted>);
  add(make_route<Submission, create_execution>({"PUT", "/v1/executions/{execution_id}", "create_execution_raw",
                                      "Create an execution whose payload is the body of the request.", Scope::submit,
                                      Batch::none, Body::bytes, false, false, 201}),
      execution_schema, schema_of<Submitted>);
  add(make_route<ExecutionsQuery, list_executions>({"GET", "/v1/executions", "list_executions",
                                         "Executions that match all filters, newest first.", Scope::read}),
      page_schema<ExecutionSummary>);
  add(make_route<OneExecution, get_execution>({"GET", "/v1/executions/{execution_id}", "get_execution",
                                     "Everything that is known of an execution, and why it is not moving.", Scope::read}),
      execution_schema, schema_of<Execution>);
  add(make_route<GetExecution, wait_for_execution>({"GET", "/v1/executions/{execution_id}/wait", "wait_for_execution",
                                      "The execution once it has ended, or as it stands when the time is over.",
                                      Scope::read}),
      execution_schema, schema_of<Execution>);
  add(make_route<GetPayload, get_bytes<GetPayload>>({"GET", "/v1/executions/{execution_id}/payload", "get_payload",
                                                 "The payload's bytes, with their content type.", Scope::read}),
      kNoBody);
  add(make_route<GetResult, get_bytes<GetResult>>({"GET", "/v1/executions/{execution_id}/result", "get_result",
                                               "The result's bytes, with their content type.", Scope::read}),
      kNoBody);
  add(make_route<AttemptsQuery, list_attempts>({"GET", "/v1/executions/{execution_id}/attempts", "list_attempts",
                                           "The attempts, the first one first.", Scope::read}),
      page_schema<Attempt>);
  Route history = make_route<HistoryQuery, read_history>({"GET", "/v1/executions/{execution_id}/history", "read_history",
                                                     "The events, the oldest first, while they are kept; or as they "
                                                     "happen, until it has ended.",
                                                     Scope::read});
  history.streams = true;
  add(history, page_schema<Event>);
}

}  // namespace ff::server
