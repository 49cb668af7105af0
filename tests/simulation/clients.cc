#include "clients.h"

namespace ff::sim {

const std::vector<std::string> kLanes = {"default", "mail", "video"};
const std::vector<std::string> kKinds = {"resize", "send"};
const std::vector<std::string> kNamespaces = {"default", "acme"};
const std::vector<std::string> kCapabilities = {"gpu", "eu"};

Client::Client(World& world, Scheduler& scheduler, int number, Random random) : world_(world), random_(random) {
  turn_ = scheduler.add(fmt::format("client{}", number), nullptr, *this);
}

SteadyUs Client::step() {
  if (world_.at_peace()) return kNever;
  if (Process* process = world_.any_process()) act(*process);
  // Bursts and pauses, so that batches of many sizes come about.
  const bool burst = random_.chance(0.3);
  return world_.now_us() + (burst ? random_.between(0, 500) : random_.between(5'000, 400'000));
}

void Client::act(Process& process) {
  if (!again_.empty() && random_.chance(0.5)) {
    Submission repeat = std::move(again_.back());
    again_.pop_back();
    return send(process, std::move(repeat));
  }
  constexpr auto kFirst = static_cast<std::size_t>(Act::submit), kLast = static_cast<std::size_t>(Act::read);
  std::uint64_t total = 0;
  for (auto i = kFirst; i <= kLast; ++i) total += world_.options().weights[i];
  std::uint64_t draw = random_.below(total);
  auto chosen = kFirst;
  while (draw >= world_.options().weights[chosen]) draw -= world_.options().weights[chosen++];

  const Act act = static_cast<Act>(chosen);
  const auto id = world_.any_execution();
  if (act == Act::configure_lane) return configure_lane(process);
  if (act == Act::submit || !id) return submit(process);
  if (act == Act::read) return read(process, *id);
  interfere(process, act, *id);
}

// ---- submitting ---------------------------------------------------------------------------------------------------

void Client::submit(Process& process) { send(process, new_submission()); }

Submission Client::new_submission() {
  Submission s;
  Random content = random_.fork();
  if (random_.chance(0.3)) {
    // A few keys with two contents each: repeats, conflicts, and first uses after the window is over.
    const auto key = random_.below(5);
    const auto variant = random_.below(8) == 0 ? 1 : 0;
    s.idempotency_key = fmt::format("key{}", key);
    content = Random(world_.options().seed + key * 2 + variant);
  } else if (random_.chance(0.3)) {
    s.execution_id = random_.pick(world_.own_ids);
  }
  s.execution_kind = content.pick(kKinds);
  s.lane_id = content.pick(kLanes);
  if (content.chance(0.3)) s.namespace_ = content.pick(kNamespaces);
  if (content.chance(0.8)) s.payload = fmt::format("payload {}\xff", content.below(1'000'000)) + std::string(1, '\0');
  if (content.chance(0.3)) s.tags["owner"] = fmt::format("o{}", content.below(3));
  if (content.chance(0.7)) s.policy = new_policy(content);
  if (random_.chance(0.3)) s.priority = static_cast<std::int32_t>(random_.between(-5, 9'010));
  if (random_.chance(0.2)) s.delay_ms = static_cast<std::uint64_t>(random_.between(0, 8'000));
  else if (random_.chance(0.1)) s.delay_until_ms = world_.now_ms() + random_.between(-5'000, 8'000);
  if (random_.chance(0.1)) s.execution_deadline_at_ms = world_.now_ms() + random_.between(-1'000, 30'000);
  return s;
}

Policy Client::new_policy(Random& random) {
  Policy p;
  auto ms = [&](std::int64_t low, std::int64_t high) { return static_cast<std::uint64_t>(random.between(low, high)); };
  auto few = [&](std::int64_t high) { return static_cast<std::uint32_t>(random.between(0, high)); };
  if (random.chance(0.6)) {
    RetryPolicy retry;
    retry.max_retries = few(3);
    Backoff backoff;
    if (random.chance(0.5)) {
      backoff.type = BackoffType::fixed;
      backoff.delay_ms = random.chance(0.3) ? 0 : ms(1, 3'000);
    } else {
      backoff.type = BackoffType::exponential;
      backoff.initial_delay_ms = ms(1, 1'000);
    }
    retry.backoff = backoff;
    p.retry_policy = retry;
  }
  if (random.chance(0.5)) p.lease_loss_policy = random.chance(0.5) ? LeaseLossPolicy::retry : LeaseLossPolicy::reclaim;
  if (random.chance(0.4)) p.max_reclaim_count = few(3);
  if (random.chance(0.4)) p.max_replay_count = few(2);
  if (random.chance(0.4)) {
    p.timeout_policy = TimeoutPolicy{};
    if (random.chance(0.7)) p.timeout_policy->attempt_timeout_ms = ms(200, 8'000);
    if (random.chance(0.3)) p.timeout_policy->execution_deadline_ms = ms(1'000, 60'000);
  }
  if (random.chance(0.4)) p.retention_ttl_ms = random.chance(0.3) ? 0 : ms(1, 30'000);
  if (random.chance(0.5)) p.dedup_window_ms = random.chance(0.2) ? 0 : ms(1, 30'000);
  if (random.chance(0.3)) {
    p.routing_requirements = RoutingRequirements{};
    p.routing_requirements->required_capabilities = std::vector{random.pick(kCapabilities)};
  }
  return p;
}

void Client::send(Process& process, Submission submission) {
  Intent& intent = world_.intend(Act::submit);
  submission.creator_identity = Book::tag(intent.call);
  intent.submission = submission;
  const CallRef call = world_.make_call(process, intent);
  world_.trace().note("        > #{} submit {} key {} to p{}", intent.call,
                      submission.execution_id ? submission.execution_id->to_string() : "-",
                      submission.idempotency_key.value_or("-"), process.number());
  // Whoever gave an id or a key may simply ask again; others have to leave it.
  const bool safe = submission.execution_id || submission.idempotency_key;
  if (safe && random_.chance(world_.options().repeat_call + world_.options().lost_reply)) again_.push_back(submission);
  auto judged = [this, &intent](const Result<Submitted>& reply) { world_.judge().submitted(intent, reply); };
  auto react = [this, submission, safe](const Result<Submitted>& reply) {
    if (!reply && reply.error().retryable() && safe) again_.push_back(submission);
  };
  if (random_.chance(0.2)) {
    // The form for many; here with one.
    auto shared = std::make_shared<engine::Callback<Submitted>>(world_.answer<Submitted>(call, judged, react));
    process.engine().start(std::vector{submission}, world_.how_to_call(),
                           [shared](std::size_t, Result<Submitted> reply) { (*shared)(std::move(reply)); });
    return;
  }
  process.engine().start(submission, world_.how_to_call(), world_.answer<Submitted>(call, judged, react));
}

// ---- interfering --------------------------------------------------------------------------------------------------

void Client::interfere(Process& process, Act act, const ExecutionId& id) {
  Intent& intent = world_.intend(act);
  intent.id = id;
  const std::string tag = Book::tag(intent.call);
  const CallRef call = world_.make_call(process, intent);
  world_.trace().note("        > {} {} {} to p{}", tag, name_of(act), id.to_string(), process.number());
  Judge& judge = world_.judge();
  auto judged = [&judge, &intent](auto check) {
    return [&judge, &intent, check](const auto& reply) { (judge.*check)(intent, reply); };
  };
  auto ignore = [](const auto&) {};
  engine::Engine& engine = process.engine();
  const engine::Call how = world_.how_to_call();
  switch (act) {
    case Act::cancel:
      return engine.start(CancelExecution{id, tag}, how,
                          world_.answer<Changed>(call, judged(&Judge::cancelled), ignore));
    case Act::replay:
      return engine.start(ReplayExecution{id, tag, {}}, how,
                          world_.answer<Changed>(call, judged(&Judge::replayed), ignore));
    case Act::change_priority:
      return engine.start(ChangePriority{id, static_cast<std::int32_t>(random_.between(0, 3) * 100)}, how,
                          world_.answer<PriorityChanged>(call, judged(&Judge::priority_changed), ignore));
    case Act::set_tags:
      return engine.start(SetTags{id, {{"note", tag}}}, how,
                          world_.answer<Changed>(call, judged(&Judge::tags_set), ignore));
    case Act::revoke:
      return engine.start(RevokeLease{id, {}, {}, tag}, how,
                          world_.answer<Revoked>(call, judged(&Judge::revoked), ignore));
    case Act::operator_complete:
      return engine.start(OperatorComplete{id, tag, {}, tag}, how,
                          world_.answer<Changed>(call, judged(&Judge::finished_by_operator), ignore));
    case Act::operator_fail:
      return engine.start(OperatorFail{id, tag, {}, tag}, how,
                          world_.answer<Changed>(call, judged(&Judge::finished_by_operator), ignore));
    default:
      return engine.start(RemoveExecution{id}, how, world_.answer<Done>(call, judged(&Judge::removed), ignore));
  }
}

void Client::configure_lane(Process& process) {
  Intent& intent = world_.intend(Act::configure_lane);
  ConfigureLane request;
  request.lane_id = random_.pick(kLanes);
  // Mostly open, else there would be little to see.
  static const std::vector<LaneState> kStates = {LaneState::active, LaneState::active,   LaneState::active,
                                                 LaneState::paused, LaneState::draining, LaneState::disabled};
  request.lane_state = random_.pick(kStates);
  if (random_.chance(0.2)) request.fairness = random_.chance(0.5) ? LaneFairness::strict : LaneFairness::fair;
  request.reason = Book::tag(intent.call);
  const CallRef call = world_.make_call(process, intent);
  world_.trace().note("        > #{} lane {} state {} to p{}", intent.call, request.lane_id,
                      static_cast<int>(*request.lane_state), process.number());
  auto judged = [this, &intent](const Result<Lane>& reply) { world_.judge().lane_configured(intent, reply); };
  process.engine().start(request, world_.how_to_call(), world_.answer<Lane>(call, judged, [](const auto&) {}));
}

void Client::read(Process& process, const ExecutionId& id) {
  Intent& intent = world_.intend(Act::read);
  intent.id = id;
  const std::uint32_t wait_ms = random_.chance(0.3) ? static_cast<std::uint32_t>(random_.between(1, 5'000)) : 0;
  const CallRef call = world_.make_call(process, intent, wait_ms);
  engine::Engine& engine = process.engine();
  const engine::Call how = world_.how_to_call();
  auto looked = [this, &intent](const auto& reply) { world_.judge().looked(intent, reply); };
  auto ignore = [](const auto&) {};
  switch (random_.below(8)) {
    case 0: return engine.start(GetPayload{id}, how, world_.answer<std::optional<Blob>>(call, looked, ignore));
    case 1: return engine.start(GetResult{id}, how, world_.answer<std::optional<Blob>>(call, looked, ignore));
    case 2: return engine.start(ListAttempts{id, {}, 3}, how, world_.answer<Page<Attempt>>(call, looked, ignore));
    case 3: return engine.start(ReadHistory{id, {}, 3}, how, world_.answer<Page<Event>>(call, looked, ignore));
    default: break;
  }
  auto judged = [this, &intent, call](const Result<Execution>& reply) {
    world_.judge().read(intent, reply);
    if (reply && reply->state.lifecycle_phase != LifecyclePhase::terminal && world_.now_us() < call->answer_by)
      world_.verdict().fail("read #{} did not wait for the end as long as it was asked to", intent.call);
  };
  engine.start(GetExecution{id, wait_ms}, how, world_.answer<Execution>(call, judged, ignore));
}

}  // namespace ff::sim
