#pragma once

#include "client/endpoint.h"

#include <flowfabric/log.h>

#include <optional>

namespace ff::client {

/// How a client behaves. The defaults are right for nearly everybody.
struct ClientOptions {
  std::optional<std::string> token;    ///< never shown
  std::optional<std::string> ca_file;  ///< certificates to trust; unset: those of the system
  std::uint32_t request_timeout_ms = 35'000;  ///< beyond the wait that a call asks for: more than the server's own limit
  std::uint32_t connect_timeout_ms = 10'000;
  std::uint32_t retry_ms = 30'000;  ///< how long a call is repeated while the server is away
  std::uint32_t tries_max = 5;      ///< of a call that the server refuses for the moment
  std::uint32_t connections_max = 16;  ///< for calls that do not wait; each one that waits has its own
  std::uint32_t waits_max = 10'000;
  std::uint32_t queue_max = 100'000;  ///< calls that have begun and are not answered
  std::uint32_t batch_max = 1'000;    ///< items of one request; 1: no batches
  std::uint32_t batches_at_once = 2;  ///< of one route; while so many are under way, calls gather
  LogSink log;
};

}  // namespace ff::client
