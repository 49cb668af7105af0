#include "worker/registration.h"

#include <algorithm>

namespace ff::worker {
namespace {

/// So much of the time to live may pass before the next sign: two of them may get lost.
constexpr int kSignPart = 3;
/// Up to so much of that is taken off by chance, so that workers that started together do not all speak at once.
constexpr int kJitterPart = 5;
constexpr std::uint32_t kDoublingsMax = 16;

}  // namespace

Registration::Sign Registration::due(TimePoint now) {
  if (under_way_) return Sign::none;
  if (leaving_) {
    if (has_left(now)) return Sign::none;
  } else if (now < next_) {
    return Sign::none;
  }
  under_way_ = true;
  if (leaving_) return Sign::leave;
  return entered_ ? Sign::alive : Sign::enter;
}

Registration::TimePoint Registration::next() const {
  if (leaving_) return leave_by_;
  return under_way_ ? TimePoint::max() : next_;
}

Registration::News Registration::answered(TimePoint now, Sign sign, const std::optional<Error>& error) {
  under_way_ = false;
  if (sign == Sign::leave) {
    left_ = true;
    return News::none;
  }
  if (!error) {
    entered_ = true;
    failures_ = 0;
    next_ = next_sign(now);
    return std::exchange(in_trouble_, false) ? News::well_again : News::none;
  }
  // It was struck off, or its time had run out while nobody could be reached: it enters again, at once.
  if (sign == Sign::alive && error->code == ErrorCode::worker_not_found) {
    entered_ = false;
    next_ = now;
    return News::none;
  }
  const Millis slow = liveness_ttl_ / kSignPart;
  const Millis grown = backoff_first_ * (1LL << std::min(failures_++, kDoublingsMax));
  // A refusal that stays is not worth a call each second.
  next_ = now + (error->retryable() ? std::min({grown, backoff_max_, slow}) : slow);
  return std::exchange(in_trouble_, true) ? News::none : News::trouble;
}

void Registration::leave(TimePoint now, Millis at_most) {
  if (leaving_) return;
  leaving_ = true;
  leave_by_ = now + at_most;
}

Registration::TimePoint Registration::next_sign(TimePoint now) {
  const Millis most = liveness_ttl_ / kSignPart;
  std::uniform_int_distribution<Millis::rep> off(0, most.count() / kJitterPart);
  return now + most - Millis(off(random_));
}

}  // namespace ff::worker
