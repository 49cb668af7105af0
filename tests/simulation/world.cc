#include "world.h"

#include "clients.h"
#include "faults.h"
#include "settlement.h"
#include "workers.h"

namespace ff::sim {
namespace {

constexpr TimeMs kEpochMs = 1'700'000'000'000;
/// In the optimistic character the clocks of partitions differ by up to this much from the shared one.
constexpr TimeMs kSkewMs = 100;

store::StoreOptions with_clock(std::shared_ptr<ManualClock> clock) {
  store::StoreOptions options;
  options.clock = std::move(clock);
  return options;
}

}  // namespace

World::World(const SimOptions& options, Trace& trace)
    : options_(options),
      trace_(trace),
      random_(options.seed * 2654435761U + static_cast<std::uint64_t>(options.character)),
      scheduler_(random_.fork(), trace),
      clock_(std::make_shared<ManualClock>(kEpochMs)),
      clock_latest_ms_(kEpochMs + kSkewMs),
      origin_(with_clock(clock_), options.character),
      checker_(origin_, options_, history_, book_, trace, verdict_),
      judge_(history_, book_, verdict_) {
  for (int i = 0; i < 5; ++i) {
    ExecutionId id;
    id.partition = static_cast<std::uint16_t>(random_.below(16));
    random_.fill(id.uuid.bytes);
    own_ids.push_back(id);
  }
  clock_offset_ms_ = kEpochMs - scheduler_.now_us() / 1000;
  for (int i = 0; i < options.processes; ++i) {
    processes_.push_back(std::make_unique<Process>(i, origin_, clock_, scheduler_, options_, random_.fork()));
    restart(*processes_.back());
  }
  for (int i = 0; i < options.clients; ++i)
    clients_.push_back(std::make_unique<Client>(*this, scheduler_, i, random_.fork()));
  for (int i = 0; i < options.workers; ++i)
    workers_.push_back(std::make_unique<Worker>(*this, scheduler_, i, random_.fork()));
  saboteur_ = std::make_unique<Saboteur>(*this, scheduler_, random_.fork());
}

World::~World() {
  for (auto& process : processes_)
    if (process->is_up()) process->crash();
}

std::optional<std::string> World::run() {
  try {
    const SteadyUs until = scheduler_.now_us() + options_.chaos_us;
    while (!verdict_.failed() && scheduler_.now_us() < until && scheduler_.steps() < options_.chaos_steps_max)
      one_step();
    if (!verdict_.failed()) Settlement(*this).run();
  } catch (const std::exception& error) {
    verdict_.fail("an exception left the engine: {}", error.what());
  }
  return verdict_.fault();
}

void World::one_step() {
  scheduler_.pass_time();
  follow_time();
  scheduler_.step();
  look();
  saboteur_->look_inside();
}

void World::look() { checker_.look(scheduler_.steps(), scheduler_.now_us(), clock_latest_ms_); }

/// The store's clock goes with the time. A clock that engines watch is moved by hand, as tests of users do: it stands
/// still for a while and then makes up for it.
void World::follow_time() {
  const TimeMs due = scheduler_.now_us() / 1000 + clock_offset_ms_;
  const TimeMs now = clock_->now_ms();
  if (due == now) return;
  if (options_.watched_clock && due > now && due < now + 20 + static_cast<TimeMs>(random_.below(30'000))) return;
  clock_->set(due);
  clock_latest_ms_ = std::max(clock_latest_ms_, due + kSkewMs);
}

// ---- for those who act --------------------------------------------------------------------------------------------

Process* World::any_process() {
  std::vector<Process*> up;
  for (auto& process : processes_)
    if (process->is_up()) up.push_back(process.get());
  return up.empty() ? nullptr : random_.pick(up);
}

engine::Call World::how_to_call() {
  engine::Call call;
  call.inline_delivery = random_.chance(options_.inline_delivery);
  return call;
}

std::optional<ExecutionId> World::any_execution() {
  const auto& executions = origin_.data().executions;
  if (executions.empty() || random_.chance(0.1)) return random_.pick(own_ids);
  return std::next(executions.begin(), static_cast<std::ptrdiff_t>(random_.below(executions.size())))->first;
}

CallRef World::make_call(Process& process, const Intent& intent, std::uint32_t wait_ms) {
  auto call = std::make_shared<OpenCall>();
  call->call = intent.call;
  call->process = &process;
  call->incarnation = process.incarnation();
  call->made_at = scheduler_.now_us();
  call->answer_by = scheduler_.now_us() + static_cast<SteadyUs>(wait_ms) * 1000;
  open_calls_[intent.call] = call;
  return call;
}

void World::answered(OpenCall& call, const Error* error) {
  trace_.mark(call.call * 131 + (error ? static_cast<std::uint64_t>(error->code) + 1 : 0));
  trace_.note("        < #{} {}", call.call, error ? error->to_string() : "ok");
  trace_.saw("{} {}", name_of(book_.find(call.call)->act), error ? traits(error->code).name : "ok");
  const bool lost = !at_peace_ && random_.chance(options_.lost_reply);
  call.state = lost ? OpenCall::State::lost : OpenCall::State::heard;
  open_calls_.erase(call.call);
}

void World::dropped(OpenCall& call) {
  if (call.process->incarnation() == call.incarnation)
    verdict_.fail("call #{} was thrown away without an answer", call.call);
}

// ---- for the saboteur ---------------------------------------------------------------------------------------------

void World::crash(Process& process) {
  trace_.note("        ~ p{} dies", process.number());
  trace_.saw("a process died{}", process.in_transaction() ? " inside a transaction" : "");
  process.crash();
  std::erase_if(open_calls_, [&](const auto& item) {
    if (item.second->process != &process) return false;
    item.second->state = OpenCall::State::lost;
    return true;
  });
}

void World::restart(Process& process) {
  if (process.is_up()) return;
  trace_.note("        ~ p{} starts", process.number());
  if (auto booted = process.boot(); !booted) verdict_.fail("a process cannot start: {}", booted.error().to_string());
}

void World::move_clock(TimeMs by_ms) {
  trace_.note("        ~ the clock moves by {} ms", by_ms);
  clock_offset_ms_ += by_ms;
}

void World::heal() {
  at_peace_ = true;
  for (auto& process : processes_) {
    process->heal();
    process->pause(false);
    restart(*process);
  }
}

}  // namespace ff::sim
