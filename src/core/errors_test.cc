#include "core/errors.h"

#include "core/fields.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

namespace ff::core {
namespace {

using C = ErrorCategory;
using K = ErrorClass;
struct Expected {
  std::vector<std::string> codes;
  C category;
  K error_class;
  int http;
};

// The table of the specification, by hand: section 5.2 of the domain page, row by row.
const std::vector<Expected> kTable = {
    {{"execution_not_found", "flow_not_found", "attempt_not_found", "edge_not_found", "budget_not_found",
      "quota_policy_not_found", "lane_not_found", "worker_not_found", "token_not_found"},
     C::not_found, K::terminal, 404},
    {{"waitpoint_not_found"}, C::not_found, K::retryable, 404},
    {{"stream_not_found"}, C::not_found, K::expected_empty, 404},
    {{"route_not_found"}, C::not_found, K::terminal, 404},
    {{"method_not_allowed"}, C::not_found, K::terminal, 405},
    {{"invalid_input"}, C::validation, K::terminal, 400},
    {{"invalid_handle"}, C::validation, K::terminal, 400},
    {{"invalid_policy_json"}, C::validation, K::terminal, 400},
    {{"invalid_capabilities"}, C::validation, K::terminal, 400},
    {{"invalid_tag_key"}, C::validation, K::terminal, 400},
    {{"invalid_offset"}, C::validation, K::terminal, 400},
    {{"invalid_blocking_reason"}, C::validation, K::terminal, 400},
    {{"invalid_token", "missing_token", "token_expired"}, C::validation, K::terminal, 400},
    {{"invalid_waitpoint_for_execution", "waitpoint_not_token_bound"}, C::validation, K::terminal, 400},
    {{"invalid_budget_scope", "invalid_quota_spec"}, C::validation, K::terminal, 400},
    {{"invalid_kid", "invalid_secret_hex", "invalid_grace_ms"}, C::validation, K::terminal, 400},
    {{"partition_mismatch"}, C::validation, K::terminal, 400},
    {{"graph_too_large"}, C::validation, K::terminal, 400},
    {{"signal_limit_exceeded"}, C::validation, K::terminal, 400},
    {{"retention_limit_exceeded"}, C::validation, K::terminal, 400},
    {{"payload_too_large"}, C::validation, K::terminal, 413},
    {{"unauthorized"}, C::validation, K::terminal, 401},
    {{"forbidden"}, C::validation, K::terminal, 403},
    {{"capability_mismatch"}, C::contention, K::retryable, 409},
    {{"execution_not_active"}, C::contention, K::terminal, 409},
    {{"execution_not_eligible"}, C::contention, K::informational, 409},
    {{"stale_graph_revision"}, C::contention, K::retryable, 409},
    {{"retry_exhausted"}, C::contention, K::retryable, 409},
    {{"dependency_already_exists"}, C::conflict, K::terminal, 409},
    {{"cycle_detected", "self_referencing_edge", "execution_already_in_flow"}, C::conflict, K::terminal, 409},
    {{"waitpoint_already_exists"}, C::conflict, K::informational, 409},
    {{"rotation_conflict"}, C::conflict, K::terminal, 409},
    {{"idempotency_conflict"}, C::conflict, K::terminal, 409},
    {{"store_refused"}, C::state, K::terminal, 409},
    {{"lane_not_accepting"}, C::state, K::terminal, 409},
    {{"stale_lease", "lease_expired", "lease_revoked"}, C::state, K::terminal, 409},
    {{"execution_not_terminal"}, C::state, K::terminal, 409},
    {{"max_replays_exhausted"}, C::state, K::terminal, 409},
    {{"execution_not_suspended", "already_suspended", "already_satisfied"}, C::state, K::informational, 409},
    {{"waitpoint_closed", "waitpoint_not_pending", "pending_waitpoint_expired"}, C::state, K::informational, 409},
    {{"target_not_signalable"}, C::state, K::terminal, 409},
    {{"stream_closed", "stale_owner_cannot_append"}, C::state, K::terminal, 409},
    {{"execution_not_in_flow", "flow_already_terminal", "dependency_too_late"}, C::state, K::terminal, 409},
    {{"deps_not_satisfied"}, C::state, K::informational, 409},
    {{"budget_exceeded"}, C::state, K::cooperative, 409},
    {{"rate_limit_exceeded"}, C::limit, K::retryable, 429},
    {{"resource_exhausted"}, C::limit, K::retryable, 429},
    {{"store_unavailable"}, C::transport, K::retryable, 503},
    {{"hmac_secret_not_initialized"}, C::unavailable, K::retryable, 503},
    {{"draining"}, C::unavailable, K::retryable, 503},
    {{"stream_disconnected"}, C::unavailable, K::retryable, 503},
    {{"cursor_expired"}, C::state, K::terminal, 410},
    {{"timeout"}, C::timeout, K::terminal, 504},
    {{"corruption"}, C::bug, K::terminal, 500},
    {{"invalid_secret"}, C::bug, K::terminal, 500},
    {{"invariant_violation"}, C::bug, K::bug, 500},
};

/// Section 5.1: by category; within contention a code of class T is final all the same.
bool retryable(const Expected& row) {
  switch (row.category) {
    case C::contention: return row.error_class != K::terminal;
    case C::limit:
    case C::transport:
    case C::unavailable: return true;
    default: return false;
  }
}

TEST(Domain, T34_every_code_is_as_the_table_says) {
  for (const auto& row : kTable)
    for (const auto& name : row.codes) {
      const auto code = parse_error_code(name);
      ASSERT_TRUE(code) << name << " is missing";
      const ErrorTraits& known = traits(*code);
      EXPECT_EQ(known.name, name);
      EXPECT_EQ(known.category, row.category) << name;
      EXPECT_EQ(known.error_class, row.error_class) << name;
      EXPECT_EQ(known.http_status, row.http) << name;
      EXPECT_EQ(known.retryable, retryable(row)) << name;
    }
}

TEST(Domain, T34_there_is_no_code_besides) {
  std::set<std::string> expected, known;
  for (const auto& row : kTable) expected.insert(row.codes.begin(), row.codes.end());
#define FF_NAME(name, category, kind, http, retry) known.insert(#name);
  FF_ERROR_CODES(FF_NAME)
#undef FF_NAME
  EXPECT_EQ(known, expected);
  EXPECT_FALSE(parse_error_code("no_such_code"));
  EXPECT_FALSE(parse_error_code(""));
}

TEST(Domain, T34_categories_have_their_http_status) {
  const std::map<C, int> status = {{C::not_found, 404},   {C::validation, 400},  {C::contention, 409},
                                   {C::conflict, 409},    {C::state, 409},       {C::limit, 429},
                                   {C::transport, 503},   {C::unavailable, 503}, {C::timeout, 504},
                                   {C::bug, 500}};
  const std::set<std::string> exceptions = {"method_not_allowed", "payload_too_large", "unauthorized", "forbidden",
                                            "cursor_expired"};
#define FF_CHECK(name, category_, kind, http, retry) \
  EXPECT_TRUE(exceptions.contains(#name) || http == status.at(C::category_)) << #name;
  FF_ERROR_CODES(FF_CHECK)
#undef FF_CHECK
}

TEST(Domain, T35_context_keeps_names_types_and_order) {
  ErrorContext context{{"lease_epoch", std::int64_t{7}}, {"outcome", std::string("success")}};
  context.set("missing", std::vector<std::string>{"cuda", "gpu"});
  context.set("lease_epoch", std::int64_t{8});
  EXPECT_EQ(context.number("lease_epoch"), 8);
  EXPECT_EQ(context.text("outcome"), "success");
  EXPECT_EQ(context.text("lease_epoch"), "") << "a number is no text";
  EXPECT_EQ(context.number("outcome"), std::nullopt);
  EXPECT_EQ(context.find("absent"), nullptr);
  ASSERT_EQ(context.items().size(), 3U);
  EXPECT_EQ(context.items()[0].first, "lease_epoch");
  EXPECT_EQ(std::get<std::vector<std::string>>(*context.find("missing")), (std::vector<std::string>{"cuda", "gpu"}));
}

TEST(Domain, T35_an_error_reads_as_code_and_sentence) {
  const Error error = corruption("ff_exec_core", "terminal_outcome", "none");
  EXPECT_EQ(error.code, ErrorCode::corruption);
  EXPECT_EQ(error.context.text("detail"), "ff_exec_core: terminal_outcome: none");
  EXPECT_TRUE(error.to_string().starts_with("corruption: "));
  EXPECT_FALSE(error.retryable());
  EXPECT_EQ(error.category(), ErrorCategory::bug);
  const Error input = invalid_input("lane_id", "empty", "Give a lane.");
  EXPECT_EQ(input.context.text("field"), "lane_id");
  EXPECT_EQ(input.context.text("reason"), "empty");
}

}  // namespace
}  // namespace ff::core
