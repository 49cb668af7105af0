#pragma once

#include <atomic>

namespace ff::test {

/// The disk under every SQLite file of this process: does what the real one does until it is told to fail. Made before
/// the files are opened, and kept until they are closed.
class FailingDisk {
 public:
  FailingDisk();
  ~FailingDisk();
  FailingDisk(const FailingDisk&) = delete;

  /// Writes find no space.
  std::atomic<bool> full = false;
  /// The write or sync with this number from now on fails with an input/output error, once; 0: none.
  std::atomic<int> fail_at = 0;
  /// Writes and syncs so far.
  std::atomic<int> calls = 0;
};

}  // namespace ff::test
