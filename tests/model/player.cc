#include "model/player.h"

namespace ff::test {

const std::vector<Player::Choice> Player::kChoices = {
    {"submit", 20, &Player::submit},
    {"submit_again", 4, &Player::submit_again},
    {"submit_all", 2, &Player::submit_all},
    {"move_time", 12, &Player::move_time},
    {"restart", 1, &Player::restart},
    {"claim", 18, &Player::claim},
    {"claim_named", 5, &Player::claim_named},
    {"renew", 5, &Player::renew},
    {"renew_all", 2, &Player::renew_all},
    {"progress", 3, &Player::progress},
    {"complete", 8, &Player::complete},
    {"fail", 9, &Player::fail},
    {"delay", 4, &Player::delay},
    {"wait_children", 2, &Player::wait_children},
    {"cancel_task", 2, &Player::cancel_task},
    {"cancel", 3, &Player::cancel},
    {"replay", 5, &Player::replay},
    {"change_priority", 3, &Player::change_priority},
    {"revoke", 4, &Player::revoke},
    {"operator_complete", 2, &Player::operator_complete},
    {"operator_fail", 2, &Player::operator_fail},
    {"set_tags", 3, &Player::set_tags},
    {"remove", 2, &Player::remove},
    {"configure_lane", 3, &Player::configure_lane},
    {"get", 3, &Player::get},
    {"payload", 1, &Player::payload},
    {"result", 1, &Player::result},
    {"tag", 1, &Player::tag},
    {"list", 4, &Player::list},
    {"attempts", 2, &Player::attempts},
    {"history", 2, &Player::history},
    {"leases", 2, &Player::leases},
    {"lane_counts", 2, &Player::lane_counts},
};

/// Work without a policy is not retried here: the default backs off by chance, which would differ between runs. Each
/// claim reads its queues: between polls a head that was cancelled is not corrected, and polls go by the machine's time.
OpenOptions Player::options() {
  OpenOptions options;
  options.lanes = {"boot"};
  options.lane_spread = 1;
  options.default_max_retries = 0;
  options.poll_interval_ms = 0;
  options.retention_ms = 300'000;
  options.event_retention_ms = 600'000;
  options.audit_retention_ms = 1'200'000;
  options.payload_bytes_max = kModelPayloadMax;
  return options;
}

Player::Player(const StoreUnderTest& store, std::uint64_t seed)
    : world_(store, options()), lag_ms_(world_.data_set().lag_ms()), random_(seed), arguments_(random_) {
  world_.advance(lag_ms_);
  // Where a lane's record lies apart, a create that is refused has registered its lane all the same.
  for (const auto& lane : arguments_.lanes()) must(world_.fabric.configure_lane({.lane_id = lane}));
}

std::string Player::step() {
  int total = 0;
  for (const auto& choice : kChoices) total += choice.weight;
  auto left = static_cast<int>(random_.below(static_cast<std::uint64_t>(total)));
  for (const auto& choice : kChoices)
    if ((left -= choice.weight) < 0) return names_.apply(fmt::format("{} {}", choice.name, (this->*choice.play)()));
  throw std::logic_error("no choice");
}

/// Rather a recent one; now and then one that never was.
ExecutionId Player::some_execution() {
  if (executions_.empty() || random_.chance(0.03))
    return {0, Uuid::parse("00000000-0000-4000-8000-000000000000").value()};
  const std::size_t among = random_.chance(0.7) ? std::min<std::size_t>(executions_.size(), 8) : executions_.size();
  return executions_[executions_.size() - 1 - random_.below(among)];
}

/// Rather a recent one; now and then one that was cut or altered. The tampered place is the same in every handle.
std::string Player::some_handle() {
  constexpr std::size_t kInAttemptId = 60, kCut = 50;
  if (handles_.empty()) return "no handle";
  const std::size_t among = random_.chance(0.8) ? std::min<std::size_t>(handles_.size(), 5) : handles_.size();
  std::string handle = handles_[handles_.size() - 1 - random_.below(among)];
  if (random_.chance(0.02)) handle.resize(kCut);
  if (random_.chance(0.02) && handle.size() > kInAttemptId) {
    char& altered = handle[kInAttemptId];
    altered = altered == 'A' ? 'B' : 'A';
  }
  return handle;
}

// ---- submitting and time ------------------------------------------------------------------------------------------

std::string Player::submitted(const Submission& submission, const Result<Submitted>& answer) {
  if (answer && !answer->duplicate) {
    submissions_.push_back(submission);
    executions_.push_back(answer->execution_id);
  }
  return fmt::format("{} -> {}", submission.lane_id, text_of(answer));
}

std::string Player::submit() {
  const Submission submission = arguments_.submission(now());
  std::string line = submitted(submission, world_.fabric.submit(submission));
  world_.settle();  // a deadline may have passed already
  return line;
}

/// The same again, or something else under the same id or key.
std::string Player::submit_again() {
  if (submissions_.empty()) return "nothing yet";
  Submission submission = random_.pick(submissions_);
  if (random_.chance(0.3)) submission.payload = arguments_.bytes();
  if (random_.chance(0.1)) submission.execution_kind = "other";
  std::string line = submitted(submission, world_.fabric.submit(submission));
  world_.settle();
  return line;
}

std::string Player::submit_all() {
  std::vector<Submission> submissions;
  for (auto left = random_.below(6); left > 0; --left) {
    submissions.push_back(arguments_.submission(now()));
    // Of two with one key either may be first.
    submissions.back().idempotency_key.reset();
    if (random_.chance(0.2)) submissions.push_back(submissions.back());
  }
  std::string line;
  const auto answers = world_.fabric.submit_all(submissions);
  for (std::size_t i = 0; i < answers.size(); ++i) line += "\n    " + submitted(submissions[i], answers[i]);
  world_.settle();
  return line;
}

std::string Player::move_time() {
  const TimeMs by = arguments_.step_in_time();
  world_.advance(by);
  return fmt::format("by {} to {}", by, world_.now());
}

/// A little later, so that ids minted before and after do not share a millisecond.
std::string Player::restart() {
  world_.restart(options());
  world_.advance(1);
  return "done";
}

// ---- everything ---------------------------------------------------------------------------------------------------

std::vector<std::string> Player::everything() {
  std::vector<std::string> lines;
  auto add = [&](std::string line) { lines.push_back(names_.apply(line)); };
  for (const auto& id : executions_) {
    auto execution = world_.fabric.get(id);
    add(fmt::format("{}: {}", id.to_string(), text_of(execution)));
    if (!execution) continue;
    add("  payload " + text_of(world_.fabric.payload(id)));
    add("  result " + text_of(world_.fabric.result(id)));
    add("  attempts " + all_attempts(id, 500));
    add("  history " + all_events(id, 500));
  }
  add("newest first " + all_pages({.limit = 500}));
  add("oldest first " + all_pages({.limit = 500, .order = ListOrder::oldest_first}));
  add("by priority " + all_pages({.limit = 7, .order = ListOrder::priority}));
  add("leases " + all_leases({.limit = 500}));
  add("lanes " + all_lanes());
  for (const auto& fault : world_.faults()) add("fault: " + fault);
  return lines;
}

std::string Player::all_attempts(const ExecutionId& id, std::uint32_t limit) {
  ListAttempts query{.execution_id = id, .limit = limit};
  std::vector<Attempt> all;
  while (true) {
    auto page = world_.fabric.attempts(query);
    if (!page) return text_of(page.error());
    all.insert(all.end(), page->items.begin(), page->items.end());
    if (!page->next_cursor) return text_of(all);
    query.after_index = all.back().attempt_index;
  }
}

std::string Player::all_events(const ExecutionId& id, std::uint32_t limit) {
  ReadHistory query{.execution_id = id, .limit = limit};
  std::vector<Event> all;
  while (true) {
    auto page = world_.fabric.history(query);
    if (!page) return text_of(page.error());
    all.insert(all.end(), page->items.begin(), page->items.end());
    if (page->next_cursor) {
      query.cursor = *page->next_cursor;
      continue;
    }
    const bool rising =
        std::is_sorted(all.begin(), all.end(), [](const Event& a, const Event& b) { return a.event_id <= b.event_id; });
    return (rising ? "" : "out of order ") + text_of(all);
  }
}

/// Where pages end is the store's own when a filter is on; what they hold together is not.
std::string Player::all_pages(ListExecutions query) {
  std::vector<ExecutionSummary> all;
  while (true) {
    auto page = world_.fabric.list(query);
    if (!page) return text_of(page.error());
    if (page->items.size() > query.limit) return "more than asked for";
    all.insert(all.end(), page->items.begin(), page->items.end());
    if (!page->next_cursor || query.limit == 0) return text_of(all);
    query.cursor = *page->next_cursor;
  }
}

std::string Player::all_leases(ListLeases query) {
  std::vector<LeaseItem> all;
  while (true) {
    auto page = world_.fabric.leases(query);
    if (!page) return text_of(page.error());
    all.insert(all.end(), page->items.begin(), page->items.end());
    if (!page->next_cursor) return text_of(all);
    query.cursor = *page->next_cursor;
  }
}

/// Without the lane of the start, which is older than the run.
std::string Player::all_lanes() {
  auto page = world_.fabric.lanes({.limit = 500});
  if (!page) return text_of(page.error());
  std::erase_if(page->items, [](const LaneStatus& status) { return status.lane.lane_id == "boot"; });
  return text_of(page->items);
}

}  // namespace ff::test
