// 02, sections 14 and 15: tags, reads, why.

#include "conformance/conformance.h"

namespace ff::test {

TEST_P(Executions, T61_tags) {
  Submission submission = job();
  submission.tags = {{"a", "1"}, {"b", "2"}};
  const auto id = submit(submission);
  EXPECT_EQ(must(fabric.set_tags(id, {{"b", "3"}, {"c.d", "4"}, {"a", std::nullopt}})),
            (Changed{id, PublicState::waiting, false}));
  EXPECT_EQ(get(id).tags, (Tags{{"b", "3"}, {"c.d", "4"}}));
  EXPECT_EQ(must(fabric.tag(id, "c.d")), "4") << "a key with dots is stored flat";
  EXPECT_EQ(must(fabric.tag(id, "a")), std::nullopt);
  EXPECT_EQ(must(fabric.tag(next_id(), "a")), std::nullopt);
  EXPECT_THAT(events(id), ElementsAre("operator tags_changed"));
  EXPECT_EQ(history(id).at(0).tags, (Tags{{"b", "3"}, {"c.d", "4"}})) << "as they are in that commit";
  EXPECT_THAT(fabric.set_tags(id, {}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.set_tags(next_id(), {{"a", "1"}}), Refused(ErrorCode::execution_not_found));

  // In every phase; lists follow.
  claim();
  must(fabric.set_tags(id, {{"phase", "active"}}));
  must(fabric.cancel(id));
  must(fabric.set_tags(id, {{"phase", "ended"}, {"b", std::nullopt}, {"c.d", std::nullopt}}));
  EXPECT_EQ(get(id).tags, (Tags{{"phase", "ended"}}));
  EXPECT_THAT(list_all({.tags = {{"phase", "ended"}}}), SizeIs(1));
  EXPECT_THAT(list_all({.tags = {{"phase", "active"}}}), IsEmpty());
  EXPECT_THAT(list_all({.tags = {{"b", "3"}}}), IsEmpty());
  must(fabric.set_tags(id, {{"phase", std::nullopt}}));
  EXPECT_THAT(get(id).tags, IsEmpty());
}

TEST_P(Executions, T62_get_execution) {
  Submission submission = job(R"({"priority": 4, "routing_requirements": {"required_capabilities": ["b", "a"],
                                   "preferred_locality": "eu", "isolation_level": "vm"}})");
  submission.namespace_ = "tenant-a";
  submission.payload = "12345";
  submission.content_type = "text/plain";
  submission.creator_identity = "alice";
  submission.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  submission.tags = {{"k", "v"}};
  const auto id = submit(submission);
  Execution execution = get(id);
  EXPECT_EQ(execution.execution_id, id);
  EXPECT_EQ(execution.namespace_, "tenant-a");
  EXPECT_EQ(execution.lane_id, "default");
  EXPECT_EQ(execution.execution_kind, "job");
  EXPECT_EQ(execution.creator_identity, "alice");
  EXPECT_EQ(execution.traceparent, submission.traceparent);
  EXPECT_EQ(execution.priority, 4);
  EXPECT_THAT(execution.required_capabilities, ElementsAre("a", "b"));
  EXPECT_EQ(execution.policy.routing_requirements->preferred_locality, "eu");
  EXPECT_EQ(execution.policy.routing_requirements->isolation_level, "vm");
  EXPECT_EQ(execution.payload_bytes, 5U);
  EXPECT_EQ(execution.payload_content_type, "text/plain");
  EXPECT_FALSE(execution.result_bytes);
  EXPECT_FALSE(execution.current_attempt);
  EXPECT_FALSE(execution.lease);

  ClaimRequest capable = request();
  capable.capabilities = {"a", "b"};
  const auto tasks = must(fabric.claim(capable));
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].execution, (TaskExecution{id, "tenant-a", "default", "job", 4, submission.tags, submission.traceparent}));
  execution = get(id);
  EXPECT_TRUE(execution.lease);
  EXPECT_TRUE(execution.current_attempt);

  advance(30'001);
  execution = get(id);
  EXPECT_FALSE(execution.lease) << "lost";
  EXPECT_TRUE(execution.current_attempt);
  EXPECT_TRUE(execution.hold.lease_expired_at_ms);

  capable.worker_instance_id = "w2";
  must(complete(must(fabric.claim(capable)).at(0)));
  execution = get(id);
  EXPECT_FALSE(execution.lease);
  EXPECT_EQ(execution.current_attempt->attempt_index, 1U);
  EXPECT_TRUE(execution.times.completed_at_ms);
  EXPECT_THAT(fabric.get(next_id()), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.payload(next_id()), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.result(next_id()), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.wait(next_id(), std::chrono::seconds(1)), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.attempts({.execution_id = next_id()}), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.history({.execution_id = next_id()}), Refused(ErrorCode::execution_not_found));
}

TEST_P(Executions, T62_a_bad_traceparent_is_dropped) {
  Submission submission = job();
  submission.traceparent = "nonsense";
  EXPECT_FALSE(get(submit(submission)).traceparent);
}

TEST_P(Executions, T63_why) {
  auto why = [&](const ExecutionId& id) { return get(id).why; };
  const auto first = submit();
  advance(100);
  const auto waiting = submit();
  EXPECT_EQ(why(waiting).reason, "waiting_for_worker");
  EXPECT_THAT(why(waiting).text, HasSubstr("1 before it"));
  EXPECT_EQ(why(waiting).since_ms, now());
  EXPECT_EQ(why(first).since_ms, now() - 100);
  must(fabric.pause_lane("default"));
  EXPECT_THAT(why(waiting).text, HasSubstr("lane 'default' is paused"));
  must(fabric.resume_lane("default"));

  const ClaimedTask task = claim("w1");
  must(fabric.progress({.handle = task.handle, .progress_pct = 40, .progress_message = "reading"}));
  EXPECT_EQ(why(first).reason, "running");
  EXPECT_THAT(why(first).text, AllOf(HasSubstr("'w1'"), HasSubstr("attempt 0"), HasSubstr("40 %"), HasSubstr("reading")));
  EXPECT_EQ(why(first).since_ms, now());
  EXPECT_EQ(why(first).until_ms, now() + 30'000);

  must(fail(task, "no disk"));
  EXPECT_EQ(why(first).reason, "waiting_for_retry_backoff");
  EXPECT_THAT(why(first).text, AllOf(HasSubstr("no disk"), HasSubstr("retry 1 of 3")));
  EXPECT_EQ(why(first).until_ms, get(first).timers.delay_until_ms);

  Submission later = job();
  later.delay_ms = 5'000;
  const auto delayed = submit(later);
  EXPECT_EQ(why(delayed).reason, "waiting_for_delay");
  EXPECT_THAT(why(delayed).text, HasSubstr("creator"));
  EXPECT_EQ(why(delayed).until_ms, now() + 5'000);

  const ClaimedTask pausing = claim("w1");
  ASSERT_EQ(pausing.execution.execution_id, waiting);
  must(fabric.delay({.handle = pausing.handle, .delay_ms = 100}));
  EXPECT_THAT(why(waiting).text, HasSubstr("worker delayed it"));
  advance(100);
  EXPECT_EQ(why(waiting).reason, "waiting_for_worker");
  EXPECT_EQ(why(waiting).since_ms, now());

  const ClaimedTask losing = claim("w3");
  ASSERT_EQ(losing.execution.execution_id, waiting);
  advance(30'001);
  EXPECT_EQ(why(waiting).reason, "lease_lost");
  EXPECT_THAT(why(waiting).text, AllOf(HasSubstr("'w3'"), HasSubstr("lost lease 1 of at most 20")));
  EXPECT_EQ(why(waiting).since_ms, now());
  must(claim_named(waiting, "w4"));
  must(fabric.revoke_lease({.execution_id = waiting, .reason = "maintenance"}));
  EXPECT_EQ(why(waiting).reason, "lease_revoked");
  EXPECT_THAT(why(waiting).text, AllOf(HasSubstr("'w4'"), HasSubstr("maintenance")));

  must(fabric.cancel(waiting, "customer left"));
  EXPECT_EQ(why(waiting).reason, "cancelled");
  EXPECT_THAT(why(waiting).text, AllOf(HasSubstr("customer left"), HasSubstr("operator_override")));
  must(fabric.operator_fail({.execution_id = first, .message = "hopeless"}));
  EXPECT_EQ(why(first).reason, "failed");
  EXPECT_THAT(why(first).text, HasSubstr("hopeless"));
  EXPECT_EQ(why(first).since_ms, now());
}

TEST_P(Executions, T63_why_counts_up_to_a_thousand) {
  std::vector<Submission> many(1'200);
  for (auto& submission : many) submission.execution_kind = "job";
  for (const auto& answer : fabric.submit_all(many)) ASSERT_THAT(answer, Succeeds());
  advance(1'000);  // behind all of them, whatever the clock of their partition
  EXPECT_THAT(get(submit()).why.text, HasSubstr("1000+ before it"));
}

TEST_P(Executions, T62_attempts_and_history_in_pages) {
  const auto id = submit(R"({"retry_policy": {"max_retries": 20, "backoff": {"type": "fixed", "delay_ms": 0}}})");
  for (int i = 0; i < 7; ++i) must(fail(claim()));
  std::vector<std::uint32_t> indexes;
  ListAttempts query{.execution_id = id, .limit = 3};
  std::vector<std::size_t> sizes;
  while (true) {
    const auto page = must(fabric.attempts(query));
    sizes.push_back(page.items.size());
    for (const auto& attempt : page.items) indexes.push_back(attempt.attempt_index);
    if (!page.next_cursor) break;
    query.after_index = page.items.back().attempt_index;
  }
  EXPECT_THAT(sizes, ElementsAre(3, 3, 1));
  EXPECT_THAT(indexes, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(must(fabric.attempts({.execution_id = id, .limit = 0})).items, IsEmpty());
  EXPECT_THAT(fabric.attempts({.execution_id = id, .limit = 501}), Refused(ErrorCode::invalid_input));

  std::vector<Event> read;
  ReadHistory pages{.execution_id = id, .limit = 5};
  sizes.clear();
  while (true) {
    const auto page = must(fabric.history(pages));
    sizes.push_back(page.items.size());
    read.insert(read.end(), page.items.begin(), page.items.end());
    if (!page.next_cursor) break;
    pages.cursor = *page.next_cursor;
  }
  EXPECT_THAT(sizes, ElementsAre(5, 5, 4));
  EXPECT_EQ(read, history(id));
  EXPECT_THAT(must(fabric.history({.execution_id = id, .limit = 7})).items, SizeIs(7));
  EXPECT_THAT(must(fabric.history({.execution_id = id, .limit = 0})).items, IsEmpty());
  EXPECT_THAT(fabric.history({.execution_id = id, .cursor = "nonsense"}), Refused(ErrorCode::invalid_offset));
  EXPECT_THAT(fabric.history({.execution_id = id, .limit = 501}), Refused(ErrorCode::invalid_input));
}

}  // namespace ff::test
