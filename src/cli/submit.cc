#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/values.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

struct SubmitWords {
  std::string kind, lane = "default";
  std::optional<std::string> payload, content_type, namespace_, delay, deadline, key, id, policy, traceparent;
  std::optional<std::int32_t> priority;
  std::vector<std::string> tags;
  CLI::Option* wait = nullptr;
  std::string wait_at_most;
};

/// Fills what the words say; the deadline as a duration counts from `now`.
Result<Submission> parse_submission(const SubmitWords& words, TimeMs now) {
  Submission submission;
  submission.execution_kind = words.kind;
  submission.lane_id = words.lane;
  submission.namespace_ = words.namespace_;
  submission.content_type = words.content_type;
  submission.priority = words.priority;
  submission.idempotency_key = words.key;
  submission.traceparent = words.traceparent;
  submission.creator_identity = caller_identity();
  if (words.payload) {
    auto bytes = read_bytes(*words.payload);
    if (!bytes) return std::unexpected(bytes.error());
    submission.payload = std::move(*bytes);
  }
  if (words.delay) {
    auto delay = parse_duration_ms(*words.delay);
    if (delay) {
      submission.delay_ms = *delay;
    } else {
      auto until = parse_time(*words.delay, now, Side::future);
      if (!until) return std::unexpected(until.error());
      submission.delay_until_ms = *until;
    }
  }
  if (words.deadline) {
    auto deadline = parse_time(*words.deadline, now, Side::future);
    if (!deadline) return std::unexpected(deadline.error());
    submission.execution_deadline_at_ms = *deadline;
  }
  if (words.id) {
    auto id = ExecutionId::parse(*words.id);
    if (!id) return std::unexpected(id.error());
    submission.execution_id = *id;
  }
  for (const auto& word : words.tags) {
    auto tag = parse_tag(word);
    if (!tag) return std::unexpected(tag.error());
    submission.tags.insert(std::move(*tag));
  }
  if (words.policy) {
    auto text = read_bytes(*words.policy);
    if (!text) return std::unexpected(text.error());
    auto policy = parse_policy(*text);
    if (!policy) return std::unexpected(policy.error());
    submission.policy = std::move(*policy);
  }
  return submission;
}

Result<int> run_submit(Globals& globals, const SubmitWords& words) {
  const bool wait = words.wait->count() > 0;
  std::optional<std::uint64_t> at_most_ms;
  if (wait && !words.wait_at_most.empty()) {
    auto parsed = parse_duration_ms(words.wait_at_most);
    if (!parsed) return std::unexpected(parsed.error());
    at_most_ms = *parsed;
  }
  auto checked = parse_submission(words, 0);  // a wrong word is refused before a store is made for it
  if (!checked) return std::unexpected(checked.error());
  auto fabric = open_fabric(globals, wait ? Use::follow : Use::create);
  if (!fabric) return std::unexpected(fabric.error());
  Result<FabricInfo> info;
  if (words.deadline || checked->delay_until_ms) info = fabric->info();  // whoever may only submit may not ask for it
  if (!info) return std::unexpected(info.error());
  if (words.deadline) checked->execution_deadline_at_ms = *parse_time(*words.deadline, info->server_time_ms, Side::future);
  if (checked->delay_until_ms) checked->delay_until_ms = *parse_time(*words.delay, info->server_time_ms, Side::future);

  auto submitted = fabric->submit(std::move(*checked));
  if (!submitted) return std::unexpected(submitted.error());
  Output& output = globals.output;
  if (output.json()) {
    core::json::object object = core::to_value(*submitted).as_object();
    if (wait) object["event"] = "submitted";
    output.document(object);
    (void)output.flush();
  } else if (wait) {
    output.remark(submitted->execution_id.to_string());
  } else {
    output.line(submitted->execution_id.to_string());
  }
  if (submitted->duplicate)
    output.remark(fmt::format("It existed already and is {}; nothing was written.", core::name_of(submitted->public_state)));
  return wait ? follow(globals, *fabric, submitted->execution_id, at_most_ms) : kDone;
}

}  // namespace

void add_submit(Program& program) {
  auto words = std::make_shared<SubmitWords>();
  CLI::App* command = program.add(nullptr, "submit", "Submit an execution; prints its id",
                                  "  ff submit resize --payload '{\"width\": 100}' --tag tenant=acme --wait 30s");
  command->add_option("KIND", words->kind, "The kind of work: which handler of a worker takes it")->required();
  command->add_option("--payload", words->payload, "What the handler gets: a text, @file, or - for standard input");
  command->add_option("--content-type", words->content_type, "Of the payload (default: application/json)");
  command->add_option("--lane", words->lane, "The lane in which it waits")->capture_default_str();
  command->add_option("--namespace", words->namespace_, "Whose it is (default: default)");
  command->add_option("--priority", words->priority, "0 to 9000; higher is earlier");
  command->add_option("--delay", words->delay, "Not before: a duration such as 5s, or a time");
  command->add_option("--deadline", words->deadline, "Expires when it has not ended by then: a duration or a time");
  command->add_option("--key", words->key, "Idempotency key: the same key and content give the first execution again");
  command->add_option("--id", words->id, "An execution id of your own, as {fp:N}:<uuid>");
  command->add_option("--tag", words->tags, "A label, as key=value; may repeat")->allow_extra_args(false);
  command->add_option("--policy", words->policy, "Retries, timeouts and so on: JSON or @file");
  command->add_option("--traceparent", words->traceparent, "A W3C trace context that its worker gets");
  words->wait = command->add_option("--wait", words->wait_at_most,
                                    "Follow it to its end, or for at most DURATION; the result goes to standard output")
                    ->expected(0, 1)
                    ->type_name("[DURATION]");
  program.on(command, [&globals = program.globals, words] { return run_submit(globals, *words); });
}

}  // namespace ff::cli
