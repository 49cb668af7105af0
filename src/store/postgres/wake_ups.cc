#include "store/postgres/wake_ups.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <fmt/format.h>

#include <random>

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;

constexpr auto kTellEvery = 2ms;
constexpr auto kGreetEvery = 30s;
/// A greeting that has not come back after this was lost on its way.
constexpr auto kGreetingMax = 2s;
constexpr auto kLookEvery = 1s;
constexpr std::chrono::milliseconds kPauseFirst = 200ms, kPauseMax = 5s;

// Every listener holds this lock together with the others, so that each can see whether it is alone.
constexpr Sql kPresent{"present", "SELECT pg_advisory_lock_shared('ff_queue'::regclass::oid::integer, 0)"};
constexpr Sql kOthers{"others",
                      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND "
                      "classid = 'ff_queue'::regclass::oid AND objid = 0 AND "
                      "database = (SELECT oid FROM pg_database WHERE datname = current_database())"};
constexpr Sql kNotify{"notify", "SELECT pg_notify($1::text, $2::text)"};

}  // namespace

WakeUps::WakeUps(Connection listener, Connection notifier, std::function<void(std::string_view)> warn,
                 QueuePlaces& places)
    : listener_(std::move(listener)), notifier_(std::move(notifier)), warn_(std::move(warn)), places_(places) {
  const std::string& schema = listener_.target().schema;
  channel_ = schema == "public" ? "ff_wake" : "ff_wake_" + schema;
  std::random_device random;
  token_ = fmt::format("{:08x}{:08x}", random(), random());
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

WakeUps::~WakeUps() {
  stop();
  if (wake_fd_ >= 0) close(wake_fd_);
}

void WakeUps::start(ForeignWatcher* watcher) {
  stop();
  watcher_ = watcher;
  stop_ = false;
  thread_ = std::thread([this] { loop(); });
}

void WakeUps::stop() {
  if (!thread_.joinable()) return;
  stop_ = true;
  eventfd_write(wake_fd_, 1);
  thread_.join();
  watcher_ = nullptr;
}

void WakeUps::committed(bool returned) {
  if (returned) returned_ = true;
  if (!owed_.exchange(true)) eventfd_write(wake_fd_, 1);
}

void WakeUps::finish() {
  stop();
  if (owed_ && others_ && notifier_.open(200ms)) notify(kind_of_commit());
  owed_ = false;
}

std::string WakeUps::state() const {
  switch (hearing_.load()) {
    case Hearing::good: return "LISTEN";
    case Hearing::deaf: return "polling only: notifications do not arrive (a pooler in transaction mode drops LISTEN)";
    case Hearing::unknown: break;
  }
  return "LISTEN, not yet heard";
}

void WakeUps::loop() {
  while (!stop_) {
    const bool listening = keep_listening();
    if (stop_) break;
    if (owed_) tell();
    if (listening) {
      if (auto heard = listener_.notifications())
        for (const auto& payload : *heard) hear(payload);
    }
    const auto now = Clock::now();
    if (greeting_out_ && now - greeted_ > kGreetingMax) {
      greeting_out_ = false;
      if (hearing_.exchange(Hearing::deaf) != Hearing::deaf && warn_)
        warn_(
            "Notifications do not arrive: a pooler in transaction mode drops LISTEN. Work of other processes is found "
            "by polling; connect to the database directly for quick wake-ups.");
    }
    const auto until_tell = owed_ ? std::chrono::ceil<std::chrono::milliseconds>(told_ + kTellEvery - now) : 500ms;
    wait(std::clamp<std::chrono::milliseconds>(until_tell, 1ms, 500ms));
  }
  listener_.close();
}

void WakeUps::wait(std::chrono::milliseconds at_most) {
  // While a commit is owed its own pause decides; else the event wakes us.
  pollfd items[2] = {{wake_fd_, POLLIN, 0}, {listener_.socket(), POLLIN, 0}};
  poll(items, listener_.is_open() ? 2 : 1, static_cast<int>(at_most.count()));
  eventfd_t count = 0;
  eventfd_read(wake_fd_, &count);
}

/// Connects and subscribes when there is no connection; true when there is one.
bool WakeUps::keep_listening() {
  const auto now = Clock::now();
  if (!listener_.is_open()) {
    if (now < retry_at_) return false;
    if (!listen()) {
      listener_.close();
      retry_at_ = Clock::now() + pause_;
      pause_ = std::min(pause_ * 2, kPauseMax);
      return false;
    }
    pause_ = kPauseFirst;
    greet();
    places_.distrust();
    watcher_->foreign_commit();  // whatever happened while nobody listened
  } else if (now - greeted_ > kGreetEvery) {
    greet();
  }
  return true;
}

bool WakeUps::listen() {
  return listener_.open(1s) && listener_.execute("LISTEN " + channel_) && listener_.query(kPresent);
}

void WakeUps::greet() {
  greeted_ = Clock::now();
  greeting_out_ = notifier_.open(1s).has_value();
  if (greeting_out_) notify('h');
}

void WakeUps::hear(const std::string& payload) {
  const bool own = payload.size() > 1 && std::string_view(payload).substr(1) == token_;
  if (!own) {
    others_ = true;
    looked_ = Clock::now();
    if (payload[0] == 'r') places_.distrust();
    watcher_->foreign_commit();
  } else if (payload[0] == 'h') {
    greeting_out_ = false;
    hearing_ = Hearing::good;
  }
}

/// Nobody needs to be told when nobody listens. A process that comes later greets, and is heard.
void WakeUps::look_for_others() {
  const auto now = Clock::now();
  if (now - looked_ < kLookEvery || hearing_ != Hearing::good) return;
  looked_ = now;
  if (auto rows = notifier_.query(kOthers)) others_ = rows->number(0, 0) > 1;
}

void WakeUps::tell() {
  if (Clock::now() - told_ < kTellEvery || !notifier_.open(200ms)) return;
  told_ = Clock::now();
  look_for_others();
  owed_ = false;
  if (others_) notify(kind_of_commit());
}

/// Whether what was committed put something back into a queue.
char WakeUps::kind_of_commit() { return returned_.exchange(false) ? 'r' : 'c'; }

void WakeUps::notify(char kind) {
  const std::string payload = kind + token_;
  (void)notifier_.query(kNotify, Params().bytes(channel_).bytes(payload));
}

}  // namespace ff::store::postgres
