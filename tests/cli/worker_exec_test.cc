#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <csignal>

namespace ff::test {
namespace {

using testing::HasSubstr;

constexpr const char* kNoWaitRetry = R"({"retry_policy":{"max_retries":2,"backoff":{"type":"fixed","delay_ms":10}}})";

std::vector<std::string> exec(std::vector<std::string> options, const std::string& script) {
  std::vector<std::string> words{"worker", "exec", "--kind", "k"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return words;
}

TEST(CliWorkerExecEnd, payload_in_result_out) {
  Sandbox box;
  Process worker = box.start(exec({"--result-type", "application/json"}, R"(read x; echo "{\"got\": $x, \"kind\": \"$FF_KIND\"}")"));
  const Ended ended = box.ff({"submit", "k", "--payload", "42", "--wait", "60s"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "{\"got\": 42, \"kind\": \"k\"}\n");
  EXPECT_THAT(ended.err, HasSubstr("completed"));
  worker.signal(SIGTERM);
  const Ended drained = worker.wait();
  EXPECT_EQ(drained.code, 0);
  EXPECT_THAT(drained.out, HasSubstr("completed"));
}

TEST(CliWorkerExecEnd, the_program_is_told_what_it_works_on) {
  Sandbox box;
  const std::string id = box.submit({"k", "--lane", "l", "--namespace", "n", "--content-type", "text/plain", "--payload", "x"});
  Process worker = box.start(exec({"--lane", "l"}, "echo $FF_EXECUTION_ID $FF_ATTEMPT $FF_KIND $FF_LANE $FF_NAMESPACE "
                                                   "$FF_CONTENT_TYPE $FF_STORE"));
  box.wait_for_state(id, "completed");
  EXPECT_EQ(box.ff({"result", id}).out, id + " 0 k l n text/plain sqlite:flowfabric.db\n");
}

TEST(CliWorkerExecEnd, failures_are_retried_and_end_with_the_last_line_of_errors) {
  Sandbox box;
  Process worker = box.start(exec({}, "echo trying >&2; echo attempt $FF_ATTEMPT is bad >&2; exit 3"));
  const std::string id = box.submit({"k", "--policy", kNoWaitRetry});
  box.wait_for_state(id, "failed");
  const auto execution = box.ff_json({"get", id});
  EXPECT_EQ(execution.at("failure_reason"), "attempt 2 is bad");
  EXPECT_EQ(execution.at("total_attempt_count"), 3);
  const auto attempts = box.ff_json({"attempts", id});
  EXPECT_EQ(attempts.at(0).at("failure_reason"), "attempt 0 is bad");
  EXPECT_EQ(attempts.at(2).at("attempt_type"), "retry");
  EXPECT_THAT(box.ff({"attempts", id}).out, HasSubstr("attempt 1 is bad"));
  EXPECT_THAT(worker.err(), HasSubstr("attempt 2 is bad"));
}

TEST(CliWorkerExecEnd, a_retry_may_succeed) {
  Sandbox box;
  Process worker = box.start(exec({}, "[ $FF_ATTEMPT -gt 0 ] || exit 75; echo fine"));
  const std::string id = box.submit({"k", "--policy", kNoWaitRetry});
  box.wait_for_state(id, "completed");
  EXPECT_EQ(box.ff({"result", id}).out, "fine\n");
}

TEST(CliWorkerExecEnd, exit_code_65_is_final) {
  Sandbox box;
  Process worker = box.start(exec({}, "echo malformed >&2; exit 65"));
  const std::string id = box.submit({"k", "--policy", kNoWaitRetry});
  box.wait_for_state(id, "failed");
  EXPECT_EQ(box.ff_json({"get", id}).at("total_attempt_count"), 1);
}

TEST(CliWorkerExecEnd, output_over_the_limit_is_final) {
  Sandbox box;
  Process worker = box.start(exec({"--grace", "100ms"}, "trap '' TERM; yes"));
  const std::string id = box.submit({"k", "--policy", kNoWaitRetry});
  box.wait_for_state(id, "failed");
  EXPECT_THAT(std::string(box.ff_json({"get", id}).at("failure_reason").as_string()), HasSubstr("1048576 bytes"));
  EXPECT_EQ(box.ff_json({"get", id}).at("total_attempt_count"), 1);
}

TEST(CliWorkerExecEnd, a_cancelled_task_gets_sigterm) {
  Sandbox box;
  Process worker = box.start(exec({"--lease", "1s"}, "trap 'echo told > told; exit 1' TERM; echo > started; "
                                                     "while :; do sleep 0.05; done"));
  const std::string id = box.submit({"k"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(box.path("started")); }));
  EXPECT_EQ(box.ff({"cancel", id}).code, 0);
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(box.path("told")); }));
  EXPECT_TRUE(eventually([&] { return worker.out().find("stopped") != std::string::npos; })) << worker.out();
  EXPECT_EQ(box.state(id), "cancelled");
}

TEST(CliWorkerExecEnd, a_revoked_lease_stops_a_deaf_program_and_another_takes_over) {
  Sandbox box;
  Process worker = box.start(exec({"--lease", "1s", "--grace", "200ms", "--concurrency", "2"},
                                  "[ $FF_ATTEMPT = 0 ] || { echo taken over; exit 0; }; trap '' TERM; echo > started; "
                                  "while :; do sleep 0.05; done"));
  const std::string id = box.submit({"k"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(box.path("started")); }));
  EXPECT_THAT(box.ff({"leases"}).out, HasSubstr(id));
  EXPECT_EQ(box.ff({"revoke", id, "--reason", "test"}).code, 0);
  box.wait_for_state(id, "completed");
  EXPECT_EQ(box.ff({"result", id}).out, "taken over\n");
  EXPECT_TRUE(eventually([&] { return worker.out().find("stopped") != std::string::npos; })) << worker.out();
}

TEST(CliWorkerExecEnd, a_draining_worker_finishes_what_it_has) {
  Sandbox box;
  Process worker = box.start(exec({}, "echo > started; while [ ! -e go ]; do sleep 0.02; done; echo finished"));
  const std::string first = box.submit({"k"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(box.path("started")); }));
  const std::string second = box.submit({"k"});
  worker.signal(SIGTERM);
  box.write("go", "");
  EXPECT_EQ(worker.wait().code, 0);
  EXPECT_EQ(box.state(first), "completed");
  EXPECT_EQ(box.state(second), "waiting");
}

TEST(CliWorkerExecEnd, what_does_not_finish_in_time_is_handed_back) {
  Sandbox box;
  Process worker = box.start(exec({"--drain-timeout", "100ms", "--grace", "2s"}, "echo > started; exec sleep 1000"));
  const std::string id = box.submit({"k"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(box.path("started")); }));
  worker.signal(SIGTERM);
  const Ended ended = worker.wait();
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("handed_back"));
  const auto execution = box.ff_json({"get", id});
  EXPECT_EQ(execution.at("public_state"), "resumable");
  EXPECT_EQ(execution.at("retry_count"), 0);
  EXPECT_EQ(execution.at("lease_reclaim_count"), 0);
}

TEST(CliWorkerExecEnd, a_killed_worker_loses_its_task_to_another) {
  Sandbox box;
  Process doomed = box.start(exec({"--lease", "1s"}, "echo $$ > started; exec sleep 1000"));
  const std::string id = box.submit({"k"});
  ASSERT_TRUE(eventually([&] { return !box.read("started").empty(); }));
  const int program = std::stoi(box.read("started"));
  doomed.signal(SIGKILL);
  EXPECT_EQ(doomed.wait().code, 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return kill(program, 0) != 0; })) << "the program outlived its worker";
  Process other = box.start(exec({"--json"}, "echo attempt $FF_ATTEMPT"));
  box.wait_for_state(id, "completed");
  EXPECT_EQ(box.ff({"result", id}).out, "attempt 1\n");
  const auto attempts = box.ff_json({"attempts", id});
  EXPECT_EQ(attempts.at(0).at("outcome"), "interrupted_reclaimed");
  EXPECT_EQ(attempts.at(1).at("attempt_type"), "reclaim");
  ASSERT_TRUE(eventually([&] { return !lines_of(other.out()).empty(); }));
  EXPECT_EQ(boost::json::parse(lines_of(other.out())[0]).at("outcome"), "completed");
}

TEST(CliWorkerExecEnd, many_at_once_in_one_and_in_several_workers) {
  Sandbox box;
  std::vector<Process> workers;
  for (int i = 0; i < 2; ++i) workers.push_back(box.start(exec({"--concurrency", "8", "--quiet"}, "cat")));
  std::vector<std::string> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(box.submit({"k", "--payload", std::to_string(i)}));
  for (int i = 0; i < 40; ++i) {
    box.wait_for_state(ids[static_cast<std::size_t>(i)], "completed");
    EXPECT_EQ(box.ff({"result", ids[static_cast<std::size_t>(i)]}).out, std::to_string(i));
  }
  for (const auto& id : ids) EXPECT_EQ(box.ff_json({"get", id}).at("claim_count"), 1);
  for (auto& worker : workers) {
    worker.signal(SIGTERM);
    const Ended ended = worker.wait();
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.out, "");
  }
}

TEST(CliWorkerExecEnd, wrong_command_lines) {
  Sandbox box;
  EXPECT_EQ(box.ff({"worker"}).code, 2);
  EXPECT_EQ(box.ff({"worker", "exec", "--kind", "k"}).code, 2);
  EXPECT_EQ(box.ff({"worker", "exec", "--", "cat"}).code, 2);
  EXPECT_EQ(box.ff({"worker", "exec", "--kind", "k", "--", "/no/such/program"}).code, 2);
  EXPECT_EQ(box.ff({"worker", "exec", "--kind", "k", "--lease", "1ms", "--", "cat"}).code, 2);
  EXPECT_EQ(box.ff({"worker", "exec", "--kind", "k", "--concurrency", "0", "--", "cat"}).code, 2);
}

TEST(CliWorkerExecEnd, words_of_the_program_are_left_alone) {
  Sandbox box;
  Process worker = box.start({"worker", "exec", "--kind", "k", "--", "printf", "%s|", "[a,b]", "--json", "list", "--", ""});
  const std::string id = box.submit({"k"});
  box.wait_for_state(id, "completed");
  EXPECT_EQ(box.ff({"result", id}).out, "[a,b]|--json|list|--||");
}

}  // namespace
}  // namespace ff::test
