#include "store/packed_row.h"

#include "core/json.h"
#include "support/situations.h"
#include "support/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace ff::store {
namespace {

using core::ExecutionRecord;
using test::job;
using test::Rules;

// ---- any record comes back ----------------------------------------------------------------------------------------

/// Fills fields with values that are legal one by one, whatever they mean together.
class Scrambler {
 public:
  explicit Scrambler(std::uint64_t seed) : chance_(seed) {}

  std::uint64_t pick(std::uint64_t below) {
    return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(chance_);
  }

  template <class Group>
  void fields(Group& group) {
    core::for_each_field(group, [&](std::string_view, auto& member) { fill(member); });
  }

  template <class T>
  void fill(std::optional<T>& value) {
    value.reset();
    if (pick(2) == 0) fill(value.emplace());
  }
  void fill(std::string& value) {
    constexpr const char* kTexts[] = {
        "", "x", "two words", "quote \" slash \\ null", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x8e\x89", "a\tb"};
    value = kTexts[pick(std::size(kTexts))];
  }
  void fill(Uuid& value) {
    for (auto& byte : value.bytes) byte = static_cast<std::uint8_t>(pick(256));
  }
  void fill(std::map<std::string, std::uint64_t>& value) {
    value.clear();
    for (std::uint64_t i = pick(3); i > 0; --i) value[fmt::format("unit{}", i)] = pick(1'000);
  }
  template <class T>
  void fill(T& value) requires std::is_enum_v<T> {
    const auto values = test::all<T>();
    value = values[pick(values.size())];
  }
  template <class T>
  void fill(T& value) requires std::is_integral_v<T> {
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    const std::uint64_t bounds[] = {1, 2, std::min<std::uint64_t>(most, 1'000),
                                    std::min<std::uint64_t>(most, 2'000'000'000'000), most};
    value = static_cast<T>(pick(bounds[pick(std::size(bounds))]));
  }

  /// Everything of a record that its state leaves free.
  ExecutionRecord scrambled(ExecutionRecord record) {
    fill(record.id.uuid);
    record.id.partition = static_cast<std::uint16_t>(pick(65'536));
    record.priority = static_cast<std::int32_t>(pick(2'001)) - 1'000;
    record.version = pick(1'000);
    const bool tried = record.attempt.has_value();
    fields(record.counters);
    record.counters.total_attempt_count = tried ? 1 + static_cast<std::uint32_t>(pick(5)) : 0;
    fields(record.times);
    fields(record.timers);
    fields(record.hold);
    fields(record.progress);
    fields(record.ending);
    fields(record.pending);
    fields(record.limits);
    fill(record.current_attempt_id);
    if (!tried) record.current_attempt_id.reset();
    if (tried) {
      fields(*record.attempt);
      record.attempt->worker_id = "pool";
      record.attempt->worker_instance_id = fmt::format("host-{}", pick(9));
    }
    if (record.lease) {
      fields(*record.lease);
      record.lease->current_lease_id = record.attempt->lease_id;
      record.lease->current_worker_id = record.attempt->worker_id;
      record.lease->current_worker_instance_id = record.attempt->worker_instance_id;
    }
    return record;
  }

 private:
  std::mt19937_64 chance_;
};

void expect_round_trip(const ExecutionRecord& record) {
  PackBuffer buffer;
  const PackedRow row = pack(record, buffer);
  ExecutionRecord back;
  auto done = unpack(row, record.queue, back);
  ASSERT_TRUE(done) << done.error().to_string() << " in " << row.details;
  // Tags are a column of their own, read beside the row.
  EXPECT_EQ(get_bits(row.state, kTagsBits), record.tags ? 1 : 0);
  back.tags = record.tags;
  EXPECT_TRUE(core::same_record(record, back))
      << "differs in: " << test::changed_fields(record, back) << "\ndetails: " << row.details;
}

TEST(PackedRow, any_record_comes_back_as_it_was) {
  Scrambler scrambler(20'251'116);
  int records = 0;
  test::for_each_legal_record([&](const ExecutionRecord& legal) {
    if (legal.lease && !legal.attempt) return;  // the vector allows it, no operation makes it
    for (int i = 0; i < 4; ++i, ++records) expect_round_trip(scrambler.scrambled(legal));
  });
  EXPECT_GT(records, 100);
}

TEST(PackedRow, every_situation_of_an_execution_comes_back_as_it_was) {
  for (const auto& situation : test::open_situations()) {
    SCOPED_TRACE(situation.name);
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    expect_round_trip(rules.record(id));
    rules.now += 1'000;
    rules.cancel(id);
    expect_round_trip(rules.record(id));
  }
}

TEST(PackedRow, tags_leave_a_mark_and_travel_apart) {
  Rules rules;
  Submission tagged = job();
  tagged.tags = {{"tenant", "a"}};
  expect_round_trip(rules.record(rules.submit(std::move(tagged))));
}

// ---- a plain run is small -----------------------------------------------------------------------------------------

TEST(PackedRow, a_plain_submit_claim_complete_writes_no_details) {
  Rules rules;
  auto details = [&](const ExecutionId& id) {
    PackBuffer buffer;
    return std::string(pack(rules.record(id), buffer).details);
  };
  const ExecutionId id = rules.submit();
  EXPECT_EQ(details(id), "");
  rules.now += 5;
  const core::TaskHandle handle = rules.claim(id);
  EXPECT_EQ(details(id), "");
  rules.now += 10'000;
  ASSERT_TRUE(rules.run(core::Renew{handle, 30'000}));
  EXPECT_EQ(details(id), R"({"last_transition_at_ms":1700000000005})") << "only what the columns do not say";
  rules.now += 5;
  ASSERT_TRUE(rules.complete(handle));
  EXPECT_EQ(details(id), "");
}

// ---- contradictions -----------------------------------------------------------------------------------------------

class Contradiction : public ::testing::Test {
 protected:
  Contradiction() {
    const ExecutionId id = rules.submit();
    rules.claim(id);
    row = pack(rules.record(id), buffer);
  }
  std::string found(const PackedRow& bad) {
    ExecutionRecord record;
    auto done = unpack(bad, rules.record(row.id).queue, record);
    if (done) return "nothing";
    EXPECT_EQ(done.error().code, ErrorCode::corruption);
    // `ff_exec_core: <field>: <value>`
    const std::string_view detail = done.error().context.text("detail");
    const std::size_t from = detail.find(": ") + 2;
    return std::string(detail.substr(from, detail.find(": ", from) - from));
  }
  static std::int64_t with_bits(std::int64_t state, StateBits bits, std::int64_t value) {
    const std::int64_t mask = ((std::int64_t{1} << bits.width) - 1) << bits.shift;
    return (state & ~mask) | (value << bits.shift);
  }

  Rules rules;
  PackBuffer buffer;
  PackedRow row;
};

TEST_F(Contradiction, numbers_that_stand_for_nothing_are_noticed) {
  EXPECT_EQ(found(row), "nothing");
  const std::pair<StateBits, const char*> cases[] = {{kEligibilityBits, "eligibility_state"},
                                                     {kReasonBits, "blocking_reason"},
                                                     {kOutcomeBits, "terminal_outcome"},
                                                     {kAttemptStateBits, "attempt_state"},
                                                     {kPublicStateBits, "public_state"}};
  for (const auto& [bits, field] : cases) {
    PackedRow bad = row;
    bad.state = with_bits(row.state, bits, (1 << bits.width) - 1);
    EXPECT_EQ(found(bad), field);
  }
}

TEST_F(Contradiction, a_public_state_that_does_not_follow_is_noticed) {
  PackedRow bad = row;
  bad.state = with_bits(row.state, kPublicStateBits, static_cast<std::int64_t>(PublicState::completed));
  EXPECT_EQ(found(bad), "public_state");
}

TEST_F(Contradiction, a_cut_lease_and_a_missing_worker_are_noticed) {
  PackedRow bad = row;
  for (std::size_t size = 0; size < row.lease.size(); ++size) {
    bad.lease = row.lease.substr(0, size);
    EXPECT_EQ(found(bad), "lease") << size;
  }
  bad = row;
  bad.worker = "pool";
  EXPECT_EQ(found(bad), "worker");
}

TEST_F(Contradiction, details_that_are_none_are_noticed) {
  PackedRow bad = row;
  for (const char* text : {"{", "[]", "7", "\"x\"", "nonsense"}) {
    bad.details = text;
    EXPECT_EQ(found(bad), "details") << text;
  }
  bad.details = R"({"no_such_field":1})";
  EXPECT_EQ(found(bad), "no_such_field");
  bad.details = R"({"retry_count":"many"})";
  EXPECT_EQ(found(bad), "retry_count");
  bad.details = R"({"attempt.outcome":"no_such_outcome"})";
  EXPECT_EQ(found(bad), "attempt.outcome");
}

// ---- the other packed parts ---------------------------------------------------------------------------------------

TEST(PackedRow, attempts_come_back_as_they_were) {
  Scrambler scrambler(7);
  for (int i = 0; i < 200; ++i) {
    Attempt attempt;
    scrambler.fields(attempt);
    auto back = unpack_attempt(pack_attempt(attempt));
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, attempt);
  }
  for (const char* text : {"", "{", "[]", R"({"attempt_index":"x"})"}) {
    auto bad = unpack_attempt(text);
    ASSERT_FALSE(bad) << text;
    EXPECT_EQ(bad.error().code, ErrorCode::corruption);
  }
}

TEST(PackedRow, tags_come_back_as_they_were) {
  for (const Tags& tags : {Tags{{"a", ""}}, Tags{{"app.task", "gr\xc3\xbc\xc3\x9f \" \\ \n"}, {"b", "2"}}}) {
    auto back = unpack_tags(pack_tags(tags));
    ASSERT_TRUE(back && *back);
    EXPECT_EQ(**back, tags);
  }
  EXPECT_EQ(*unpack_tags(""), nullptr);
  EXPECT_EQ(unpack_tags("[1]").error().code, ErrorCode::corruption);
}

TEST(PackedRow, where_an_execution_came_from_comes_back_as_it_was) {
  core::ExecutionInfo info;
  info.policy = std::make_shared<const Policy>(core::default_policy());
  EXPECT_EQ(pack_origin(info), "");
  EXPECT_TRUE(core::same_info(*unpack_info("", ""), info)) << "the default policy is stored as nothing";

  info.creator_identity = "me";
  info.idempotency_key = "k \" 1";
  info.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  auto policy = core::default_policy();
  policy.retry_policy->max_retries = 7;
  info.policy = std::make_shared<const Policy>(policy);
  auto back = unpack_info(core::stored_policy(policy), pack_origin(info));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_TRUE(core::same_info(*back, info));
  EXPECT_EQ(unpack_info("", "no JSON").error().code, ErrorCode::corruption);
  EXPECT_EQ(unpack_info("no JSON", "").error().code, ErrorCode::corruption);
}

}  // namespace
}  // namespace ff::store
