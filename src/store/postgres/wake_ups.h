#pragma once

#include "store/postgres/connection.h"
#include "store/postgres/places.h"
#include "store/store.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace ff::store::postgres {

/// Tells other processes of our commits, and hears of theirs.
///
/// A notification inside a batch would make all committing transactions of the database queue for one lock; so one
/// follows after commits, on a connection of its own, at most every two milliseconds, and only when somebody else
/// listens. Losing one costs at most the engine's poll interval. A pooler that drops LISTEN is noticed, because the
/// process sends itself a greeting that must come back.
class WakeUps {
 public:
  WakeUps(Connection listener, Connection notifier, std::function<void(std::string_view)> warn, QueuePlaces& places);
  ~WakeUps();

  void start(ForeignWatcher* watcher);
  /// No call of the watcher is under way afterwards.
  void stop();
  /// Called after each commit; `returned` when it put something back into a queue.
  void committed(bool returned);
  /// Tells the others of commits that they have not been told of; for the end of a process.
  void finish();
  /// Whether notifications arrive, in words.
  std::string state() const;

 private:
  using Clock = std::chrono::steady_clock;

  void loop();
  bool keep_listening();
  bool listen();
  void greet();
  void hear(const std::string& payload);
  void look_for_others();
  void tell();
  char kind_of_commit();
  void notify(char kind);
  void wait(std::chrono::milliseconds at_most);

  Connection listener_, notifier_;
  std::function<void(std::string_view)> warn_;
  QueuePlaces& places_;
  std::string channel_, token_;
  ForeignWatcher* watcher_ = nullptr;

  std::thread thread_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> owed_ = false;  ///< a commit that the others were not told of
  std::atomic<bool> returned_ = false;
  int wake_fd_ = -1;

  enum class Hearing : std::uint8_t { unknown, good, deaf };
  std::atomic<Hearing> hearing_ = Hearing::unknown;
  std::atomic<bool> others_ = true;
  Clock::time_point greeted_{}, looked_{}, told_{}, retry_at_{};
  bool greeting_out_ = false;
  std::chrono::milliseconds pause_{200};
};

}  // namespace ff::store::postgres
