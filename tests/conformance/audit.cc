// 07, section 8: what operators did.

#include "api/acting.h"
#include "conformance/conformance.h"

namespace ff::test {
namespace {

std::vector<std::string> types_of(const std::vector<Event>& events) {
  std::vector<std::string> types;
  for (const auto& event : events) types.push_back(event.event_type);
  return types;
}

}  // namespace

TEST_P(InProcess, T42_every_operator_call_is_in_the_audit_log_once) {
  const Fabric acting(api::acting_for(fabric.backend(), {.actor = "token-7", .request_id = "r-1", .remote = "10.1.2.3"}));
  const auto one = submit();
  must(acting.change_priority(one, 5));
  clock->advance(1);
  must(acting.cancel(one, "enough"));
  clock->advance(1);
  must(acting.cancel(one, "enough"));  // nothing had to change
  must(acting.pause_lane("imports", "stocktaking"));
  clock->advance(1);
  must(fabric.replay(one));
  clock->advance(1);
  EXPECT_THAT(acting.revoke_lease({.execution_id = next_id()}), Refused(ErrorCode::execution_not_found));

  const auto all = must(fabric.audit()).items;
  EXPECT_THAT(types_of(all), ElementsAre("replayed", "lane_configured", "execution_cancelled", "priority_changed"))
      << "newest first";
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_EQ(all[i].actor, "token-7");
    EXPECT_THAT(*all[i].details, AllOf(HasSubstr("\"request_id\":\"r-1\""), HasSubstr("\"remote\":\"10.1.2.3\"")));
  }
  EXPECT_EQ(all[0].actor, "embedded");
  EXPECT_THAT(*all[0].details, Not(HasSubstr("request_id")));
  EXPECT_THAT(types_of(must(fabric.audit({.actor = "embedded"})).items), ElementsAre("replayed"));
  EXPECT_THAT(types_of(must(fabric.audit({.event_type = "lane_configured"})).items), ElementsAre("lane_configured"));
  EXPECT_THAT(must(fabric.audit({.execution_id = one})).items, SizeIs(3));
  EXPECT_THAT(must(fabric.audit({.since_ms = all[1].occurred_at_ms})).items, SizeIs(2));
  EXPECT_THAT(must(fabric.audit({.limit = 0})).items, IsEmpty());
  EXPECT_THAT(fabric.audit({.limit = 501}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.audit({.cursor = "?"}), Refused(ErrorCode::invalid_offset));

  const Fabric tenant(api::acting_for(fabric.backend(), {.namespace_scope = "tenant"}));
  EXPECT_THAT(must(tenant.audit()).items, IsEmpty()) << "of its own namespace only";
}

TEST_P(Background, T42_pages_of_the_audit_log) {
  std::vector<ExecutionId> ids;
  for (std::uint16_t i = 0; i < 4; ++i) {
    Submission submission = job();
    submission.execution_id = next_id(i);
    ids.push_back(submit(submission));
  }
  for (int i = 1; i <= 5; ++i)
    for (const auto& id : ids) must(fabric.change_priority(id, i));
  std::set<std::pair<std::string, std::string>> seen;
  std::size_t count = 0;
  ListAudit query{.limit = 3};
  TimeMs last = std::numeric_limits<TimeMs>::max();
  for (int pages = 0; pages < 20; ++pages) {
    const auto page = must(fabric.audit(query));
    for (const auto& event : page.items) {
      seen.emplace(event.execution_id->to_string(), *event.details);
      EXPECT_LE(event.occurred_at_ms, last);
      last = event.occurred_at_ms;
      ++count;
    }
    if (!page.next_cursor) break;
    query.cursor = *page.next_cursor;
  }
  EXPECT_EQ(count, 20U);
  EXPECT_EQ(seen.size(), 20U) << "each once";
}

TEST_P(Background, T42_the_audit_log_outlives_other_events) {
  const auto id = submit();
  must(fabric.cancel(id));
  advance(2 * 86'400'000LL);
  EXPECT_THAT(types_of(must(fabric.audit()).items), ElementsAre("execution_cancelled"));
  advance(90 * 86'400'000LL);
  EXPECT_THAT(must(fabric.audit()).items, IsEmpty());
}

}  // namespace ff::test
