// 05, T87 and what a handler is told: every way in which a handler can end.

#include "worker/worker_world.h"

#include <flowfabric/json.h>

namespace ff::test {
namespace {

struct Job {
  std::string name;
  int size = 0;
};
BOOST_DESCRIBE_STRUCT(Job, (), (name, size))

class WorkerOutcomes : public WorkerTest {
 protected:
  /// Runs one execution through this handler once; the execution as it stands afterwards.
  Execution after(Worker::Handler handler, Submission submission) {
    const ExecutionId id = *submission.execution_id;
    {
      std::lock_guard guard(mutex_);
      handlers_[id] = std::move(handler);
    }
    if (!worker) run(brief(), [this](Task& task) { return handler_of(task)(task); });
    submit(std::move(submission));
    EXPECT_TRUE(eventually([&] {
      const Execution now = get(id);
      return now.counters.claim_count > 0 && !now.lease;
    }));
    return get(id);
  }
  Execution after(Worker::Handler handler) { return after(std::move(handler), job()); }

 private:
  Worker::Handler handler_of(const Task& task) {
    std::lock_guard guard(mutex_);
    return handlers_.at(task.execution_id());
  }

  std::mutex mutex_;
  std::map<ExecutionId, Worker::Handler> handlers_;
};

}  // namespace

TEST_F(WorkerOutcomes, T87_complete) {
  auto id = after([](Task&) { return ff::complete(); }).execution_id;
  EXPECT_EQ(state_of(id), PublicState::completed);
  EXPECT_EQ(must(fabric.result(id)), std::nullopt);

  id = after([](Task&) { return ff::complete("bytes", "text/plain"); }).execution_id;
  EXPECT_EQ(must(fabric.result(id)), (Blob{"bytes", "text/plain"}));

  id = after([](Task&) { return ff::complete(Job{"big", 3}); }).execution_id;
  EXPECT_EQ(must(fabric.result(id)), (Blob{R"({"name":"big","size":3})", "application/json"}));
}

TEST_F(WorkerOutcomes, T87_fail) {
  Execution failed = after([](Task&) { return ff::fail("no luck"); });
  EXPECT_EQ(test::vector_of(failed.state), kBackingOff) << "transient, so it is tried again";
  EXPECT_EQ(failed.ending.last_failure_message, "no luck");

  failed = after([](Task&) { return ff::fail("no luck", FailureClass::infra_crash, "disk"); });
  EXPECT_EQ(attempts(failed.execution_id)[0].failure_category, "disk");

  failed = after([](Task&) { return fail_permanent("never"); });
  EXPECT_EQ(test::vector_of(failed.state), kEndedFailed);
  EXPECT_EQ(failed.ending.failure_reason, "never");
}

TEST_F(WorkerOutcomes, T87_delay_and_wait) {
  Execution later = after([](Task&) { return delay(1h); });
  EXPECT_EQ(test::vector_of(later.state), kPausedByDelay);
  later = after([until = now() + 3'600'000](Task&) { return delay_until(until); });
  EXPECT_EQ(test::vector_of(later.state), kPausedByDelay);
  EXPECT_EQ(later.hold.interrupt_kind, InterruptKind::worker_delay);

  std::atomic<int> calls = 0;
  const Execution waited = after([&](Task&) { return ++calls == 1 ? wait_children() : ff::complete(); });
  ASSERT_TRUE(comes_to(waited.execution_id, PublicState::completed)) << "nothing to wait for: it goes on at once";
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(attempts(waited.execution_id), SizeIs(1));
}

TEST_F(WorkerOutcomes, T87_exceptions) {
  Execution failed = after([](Task&) -> Outcome { throw std::runtime_error("broken pipe"); });
  EXPECT_EQ(test::vector_of(failed.state), kBackingOff);
  EXPECT_EQ(failed.ending.last_failure_message, "broken pipe");

  failed = after([](Task&) -> Outcome {
    try {
      throw std::runtime_error("root");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  });
  EXPECT_EQ(failed.ending.last_failure_message, "outer: root");

  failed = after([](Task&) -> Outcome { throw 7; });
  EXPECT_EQ(failed.ending.last_failure_message, "unknown exception");
  EXPECT_EQ(test::vector_of(failed.state), kBackingOff);

  EXPECT_EQ(after([](Task&) { return ff::complete(); }).state.public_state, PublicState::completed)
      << "the worker lives on";
}

TEST_F(WorkerOutcomes, T87_payloads_that_do_not_decode) {
  auto read = [](Task& task) { return ff::complete(std::to_string(task.payload_as<Job>().size)); };
  for (const char* payload : {"{", R"({"name": 5, "size": "x"})"}) {
    Submission submission = job();
    submission.payload = payload;
    const Execution failed = after(read, submission);
    EXPECT_EQ(test::vector_of(failed.state), kEndedFailed) << payload << ": not tried again";
    EXPECT_THAT(*failed.ending.failure_reason, HasSubstr("payload"));
  }
  const Execution without = after(read);
  EXPECT_EQ(without.state.public_state, PublicState::failed);

  Submission good = job();
  good.payload = to_payload(Job{"small", 1});
  EXPECT_EQ(must(fabric.result(after(read, good).execution_id))->bytes, "1");
}

TEST_F(WorkerOutcomes, T87_long_messages_are_cut_at_a_character) {
  std::string text(4'095, 'a');
  text += "\u00e9 and more";  // the two bytes of the letter lie on both sides of the limit
  const Execution failed = after([text](Task&) { return fail_permanent(text); });
  EXPECT_EQ(failed.ending.failure_reason, std::string(4'095, 'a'));
  const Execution controls = after([](Task&) -> Outcome { throw PayloadError("line\nbreak\x01"); });
  EXPECT_EQ(controls.ending.failure_reason->find('\n'), std::string::npos);
  EXPECT_EQ(controls.ending.failure_reason->find('\x01'), std::string::npos);
}

TEST_F(WorkerOutcomes, a_result_over_the_limit_fails_the_attempt) {
  const Execution failed = after([](Task&) { return ff::complete(Bytes(2 * 1024 * 1024, 'x')); });
  EXPECT_EQ(test::vector_of(failed.state), kEndedFailed);
  EXPECT_THAT(*failed.ending.failure_reason, HasSubstr("payload_too_large"));
}

TEST_F(WorkerOutcomes, what_a_handler_is_told) {
  Submission submission = job();
  submission.namespace_ = "tenant";
  submission.payload = std::string("\0\xff", 2);
  submission.content_type = "application/octet-stream";
  submission.tags = {{"team", "red"}};
  submission.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const Execution done = after(
      [&](Task& task) {
        EXPECT_EQ(task.execution_id(), *submission.execution_id);
        EXPECT_EQ(task.kind(), "job");
        EXPECT_EQ(task.lane(), "default");
        EXPECT_EQ(task.namespace_(), "tenant");
        EXPECT_EQ(task.tags(), submission.tags);
        EXPECT_EQ(task.traceparent(), submission.traceparent);
        EXPECT_EQ(task.payload(), std::string("\0\xff", 2));
        EXPECT_EQ(task.content_type(), "application/octet-stream");
        EXPECT_EQ(task.attempt_index(), 0U);
        EXPECT_EQ(task.attempt_type(), AttemptType::initial);
        EXPECT_EQ(task.claim_kind(), HandleKind::fresh);
        EXPECT_TRUE(task.lease_healthy());
        EXPECT_EQ(task.stop_reason(), StopReason::none);
        EXPECT_TRUE(task.progress(40, "on the way"));
        return ff::complete();
      },
      submission);
  EXPECT_EQ(done.state.public_state, PublicState::completed);
  EXPECT_EQ(done.progress.progress_pct, 40U);
  EXPECT_EQ(done.progress.progress_message, "on the way");
}

TEST_F(WorkerOutcomes, kinds) {
  Submission mail = job(), other = job();
  mail.execution_kind = "mail";
  other.execution_kind = "other";
  submit(mail);
  submit(other);
  worker = std::make_unique<Worker>(Fabric(wire), brief());
  worker->on("mail", [](Task&) { return ff::complete("first"); });
  worker->on("mail", [](Task&) { return ff::complete("second"); });
  run();
  ASSERT_TRUE(comes_to(*mail.execution_id, PublicState::completed));
  EXPECT_EQ(must(fabric.result(*mail.execution_id))->bytes, "second") << "the later handler replaces the first";
  stop_and_join();
  EXPECT_EQ(state_of(*other.execution_id), PublicState::waiting) << "a kind without a handler is not taken";
  for (const auto& claim : wire->claims()) EXPECT_THAT(claim.kinds, ElementsAre("mail"));

  worker = std::make_unique<Worker>(Fabric(wire), brief());
  worker->on("mail", [](Task&) { return ff::complete(); });
  worker->on_any([](Task& task) { return ff::complete("any " + task.kind()); });
  run();
  ASSERT_TRUE(comes_to(*other.execution_id, PublicState::completed));
  EXPECT_EQ(must(fabric.result(*other.execution_id))->bytes, "any other");
}

}  // namespace ff::test
