#include "server/history_stream.h"

#include "engine/cursors.h"
#include "server/event_text.h"

namespace ff::server {
namespace {

/// How long the engine is asked to wait for an event; then the end is looked for again.
constexpr std::uint32_t kWaitMs = 10'000;

}  // namespace

HistoryStream::HistoryStream(Ctx context, const ExecutionId& id, std::string cursor, const Page<Event>& first)
    : context_(std::move(context)), id_(id), cursor_(std::move(cursor)) {
  told_first_ = take_events(first.items);
}

/// The text of events, which counts as told from now on.
std::string HistoryStream::take_events(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) {
    cursor_ = engine::number_cursor(event.event_id);
    text += event_text(cursor_, core::name_of(event.kind), core::to_json_text(event));
  }
  return text;
}

void HistoryStream::next(Ready ready) {
  std::unique_lock guard(mutex_);
  std::optional<std::string> part;
  if (!told_first_.empty()) {
    part = std::exchange(told_first_, {});
  } else if (finishing_ && !over_) {
    over_ = true;
    part = place_text(cursor_);
  } else if (!over_) {
    ready_ = std::move(ready);
    guard.unlock();
    return read(0);
  }
  guard.unlock();
  ready(std::move(part));
}

void HistoryStream::read(std::uint32_t wait_ms) {
  ReadHistory request{.execution_id = id_, .cursor = {}, .limit = kPage, .wait_ms = wait_ms};
  {
    std::lock_guard guard(mutex_);
    if (over_) return;
    request.cursor = cursor_;
  }
  // A stream that was closed is not kept by its waiting.
  context_->backend->start(std::move(request), false, [weak = weak_from_this()](const Result<Page<Event>>& page) {
    if (auto self = weak.lock()) self->read_done(page);
  });
}

void HistoryStream::read_done(const Result<Page<Event>>& page) {
  if (!page) {
    // The reader comes again with its place; what went wrong is for the log.
    context_->report(page.error());
    return tell(std::nullopt);
  }
  std::unique_lock guard(mutex_);
  if (!ready_) return;  // somebody else had the last word
  if (page->items.empty()) {
    const bool was_all = has_ended_;
    guard.unlock();
    return was_all ? tell(std::nullopt) : look_for_the_end();
  }
  has_ended_ = false;  // it may have been replayed
  Ready ready = std::exchange(ready_, nullptr);
  std::string text = take_events(page->items);
  guard.unlock();
  ready(std::move(text));
}

/// An end that is seen here was committed with its events: one more look finds them all.
void HistoryStream::look_for_the_end() {
  context_->backend->start(GetExecution{id_, 0}, false, [self = shared_from_this()](const Result<Execution>& execution) {
    if (!execution) {
      self->tell(std::nullopt);
    } else if (execution->state.lifecycle_phase == LifecyclePhase::terminal) {
      {
        std::lock_guard guard(self->mutex_);
        self->has_ended_ = true;
      }
      self->read(0);
    } else {
      self->read(kWaitMs);
    }
  });
}

void HistoryStream::tell(std::optional<std::string> part) {
  Ready ready;
  {
    std::lock_guard guard(mutex_);
    if (!part) over_ = true;
    ready = std::exchange(ready_, nullptr);
  }
  if (ready) ready(std::move(part));
}

void HistoryStream::finish() {
  Ready ready;
  std::string last;
  {
    std::lock_guard guard(mutex_);
    finishing_ = true;
    if (!ready_ || over_) return;
    over_ = true;
    ready = std::exchange(ready_, nullptr);
    last = place_text(cursor_);
  }
  ready(std::move(last));
}

void HistoryStream::close() {
  Ready nobody;
  std::lock_guard guard(mutex_);
  over_ = true;
  nobody = std::exchange(ready_, nullptr);
}

}  // namespace ff::server
