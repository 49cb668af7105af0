#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ff::sim {

/// The source of all chance in a run: a stream that follows from its seed alone (splitmix64).
///
/// Parts of the simulated world have streams of their own (`fork`), so that a draw more in one place does not shift
/// what happens in all others.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// 0 .. n-1.
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  /// Both ends included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  Random fork() { return Random(next()); }

  void fill(std::span<std::uint8_t> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const std::uint64_t word = next();
      const std::size_t piece = std::min(bytes.size() - done, sizeof word);
      std::memcpy(bytes.data() + done, &word, piece);
      done += piece;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace ff::sim
