#pragma once

// How the examples stop when something is not as they say. A program of yours would handle its errors instead.

#include <flowfabric/error.h>

#include <cstdio>
#include <cstdlib>

/// Ends the program at once, workers on other threads included.
[[noreturn]] inline void give_up(const std::string& sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", sentence.c_str());
  std::_Exit(1);
}

/// The store of an example, unless FF_STORE names another, as it does for the ff command.
inline std::string store_or(const char* url) {
  const char* named = std::getenv("FF_STORE");
  return named ? named : url;
}

/// The value of a call that must succeed.
template <class T>
T must(ff::Result<T> result) {
  if (!result) give_up(result.error().to_string());
  return std::move(*result);
}

inline void expect(bool truth, const std::string& what) {
  if (!truth) give_up("This is not true: " + what);
}
