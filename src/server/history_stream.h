#pragma once

// The events of one execution as they happen, until it has ended and all of them were told.

#include "server/route.h"

#include <mutex>

namespace ff::server {

class HistoryStream final : public BodyStream, public std::enable_shared_from_this<HistoryStream> {
 public:
  /// Events that are read, and told, at a time.
  static constexpr std::uint32_t kPage = 100;

  /// Goes on after `cursor`, where `first` was read.
  HistoryStream(Ctx context, const ExecutionId& id, std::string cursor, const Page<Event>& first);

  void next(Ready ready) override;
  void finish() override;
  void close() override;

 private:
  void read(std::uint32_t wait_ms);
  void read_done(const Result<Page<Event>>& page);
  void look_for_the_end();
  /// Answers what is outstanding, if anything is.
  void tell(std::optional<std::string> part);
  std::string take_events(const std::vector<Event>& events);

  Ctx context_;
  ExecutionId id_;

  std::mutex mutex_;
  std::string cursor_;
  std::string told_first_;       ///< what was read before anybody asked
  Ready ready_;                  ///< what is outstanding
  bool has_ended_ = false;       ///< the execution was seen ended: what comes up empty now is all
  bool finishing_ = false;       ///< the next part is the last
  bool over_ = false;
};

}  // namespace ff::server
