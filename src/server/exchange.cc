#include "server/exchange.h"

#include "server/http_metrics.h"
#include "server/problem.h"

namespace ff::server {

std::optional<std::uint64_t> Waits::add(std::function<void()> answer_now) {
  std::lock_guard guard(mutex_);
  if (ended_) return std::nullopt;
  waiting_.emplace(next_, std::move(answer_now));
  return next_++;
}

void Waits::remove(std::uint64_t number) {
  std::lock_guard guard(mutex_);
  waiting_.erase(number);
}

std::size_t Waits::size() {
  std::lock_guard guard(mutex_);
  return waiting_.size();
}

void Waits::end_all() {
  std::map<std::uint64_t, std::function<void()>> all;
  {
    std::lock_guard guard(mutex_);
    ended_ = true;
    all.swap(waiting_);
  }
  for (const auto& [number, answer_now] : all) answer_now();
}

Response refusal(const Error& error, const std::string& request_id) {
  Response response = problem_response(error, request_id);
  if (error.code == ErrorCode::unauthorized) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (error.code == ErrorCode::method_not_allowed)
    response.headers.emplace_back("Allow", std::string(error.context.text("allow")));
  return response;
}

Response Exchange::dressed(Response response) const {
  response.headers.insert(response.headers.end(), cors.begin(), cors.end());
  response.headers.emplace_back("X-Request-Id", request_id);
  if (response.stream && head_only) std::exchange(response.stream, nullptr)->close();
  const bool has_length = response.status != 204 && response.status != 304 && !response.stream;
  if (has_length) response.headers.emplace_back("Content-Length", std::to_string(response.body.size()));
  if (head_only) response.body.clear();
  return response;
}

std::optional<Exchange::Left> Exchange::end() {
  Left left;
  std::optional<std::uint64_t> number;
  {
    std::lock_guard guard(mutex);
    if (std::exchange(over, true)) return std::nullopt;
    left = {std::move(send), std::exchange(wait, {}), waits_since_us};
    number = wait_number;
  }
  if (number) waits->remove(*number);
  return left;
}

void Exchange::count(int status, std::optional<std::int64_t> since_us) {
  if (!requests) return;
  const std::int64_t until_us = since_us.value_or((*steady_us)());
  requests->count(nowhere ? nullptr : match.route, method, status, static_cast<double>(until_us - began_us) / 1e6);
}

void Exchange::answer(Response response) {
  if (auto left = end()) {
    count(response.status, left->waits_since_us);
    return left->send(dressed(std::move(response)));
  }
  if (response.undelivered) response.undelivered();
  if (response.stream) response.stream->close();
}

void Exchange::expire(Response response) {
  auto left = end();
  if (!left) return;
  count(response.status, left->waits_since_us);
  left->send(dressed(std::move(response)));
  if (left->wait.give_up) left->wait.give_up();
}

bool Exchange::abandon() {
  const auto left = end();
  if (left && left->wait.give_up) left->wait.give_up();
  return left.has_value();
}

void Exchange::set_wait(Wait given) {
  std::unique_lock guard(mutex);
  if (over) {
    guard.unlock();
    return given.give_up();
  }
  waits_since_us = (*steady_us)();
  wait = given;
  wait_number = waits->add(given.answer_now);
  const bool draining = !wait_number;
  guard.unlock();
  if (draining) given.answer_now();
}

bool Exchange::is_waiting() {
  std::lock_guard guard(mutex);
  return !over && wait.give_up != nullptr;
}

}  // namespace ff::server
