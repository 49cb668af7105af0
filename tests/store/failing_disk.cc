#include "store/failing_disk.h"

#include <sqlite3.h>

#include <stdexcept>

namespace ff::test {
namespace {

// SQLite calls plain functions, so the disk that they ask stands here.
FailingDisk* disk = nullptr;
sqlite3_vfs* real_system = nullptr;
sqlite3_vfs failing_system;

/// A file of ours, followed in memory by the real one.
struct File : sqlite3_file {
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& of(sqlite3_file* file) { return *static_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return of(file).real(); }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }

bool fails_now() {
  ++disk->calls;
  int left = disk->fail_at.load();
  while (left > 0 && !disk->fail_at.compare_exchange_weak(left, left - 1)) {
  }
  return left == 1;
}

int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  if (disk->full) return SQLITE_FULL;
  if (fails_now()) return SQLITE_IOERR_WRITE;
  return methods(file).xWrite(real(file), bytes, count, at);
}

int sync(sqlite3_file* file, int flags) {
  if (fails_now()) return SQLITE_IOERR_FSYNC;
  return methods(file).xSync(real(file), flags);
}

const sqlite3_io_methods kMethods = {
    3,
    [](sqlite3_file* f) { return methods(f).xClose(real(f)); },
    [](sqlite3_file* f, void* to, int count, sqlite3_int64 at) { return methods(f).xRead(real(f), to, count, at); },
    write,
    [](sqlite3_file* f, sqlite3_int64 size) { return methods(f).xTruncate(real(f), size); },
    sync,
    [](sqlite3_file* f, sqlite3_int64* size) { return methods(f).xFileSize(real(f), size); },
    [](sqlite3_file* f, int level) { return methods(f).xLock(real(f), level); },
    [](sqlite3_file* f, int level) { return methods(f).xUnlock(real(f), level); },
    [](sqlite3_file* f, int* held) { return methods(f).xCheckReservedLock(real(f), held); },
    [](sqlite3_file* f, int what, void* with) { return methods(f).xFileControl(real(f), what, with); },
    [](sqlite3_file* f) { return methods(f).xSectorSize(real(f)); },
    [](sqlite3_file* f) { return methods(f).xDeviceCharacteristics(real(f)); },
    [](sqlite3_file* f, int page, int size, int extend, void volatile** at) {
      return methods(f).xShmMap(real(f), page, size, extend, at);
    },
    [](sqlite3_file* f, int offset, int count, int flags) {
      return methods(f).xShmLock(real(f), offset, count, flags);
    },
    [](sqlite3_file* f) { methods(f).xShmBarrier(real(f)); },
    [](sqlite3_file* f, int remove) { return methods(f).xShmUnmap(real(f), remove); },
    [](sqlite3_file* f, sqlite3_int64 at, int count, void** to) { return methods(f).xFetch(real(f), at, count, to); },
    [](sqlite3_file* f, sqlite3_int64 at, void* page) { return methods(f).xUnfetch(real(f), at, page); },
};

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  const int code = real_system->xOpen(real_system, name, real(file), flags, flags_out);
  file->pMethods = real(file)->pMethods ? &kMethods : nullptr;
  return code;
}

}  // namespace

FailingDisk::FailingDisk() {
  disk = this;
  real_system = sqlite3_vfs_find(nullptr);
  failing_system = *real_system;
  failing_system.zName = "failing";
  failing_system.szOsFile = static_cast<int>(sizeof(File)) + real_system->szOsFile;
  failing_system.xOpen = open;
  if (sqlite3_vfs_register(&failing_system, 1) != SQLITE_OK)
    throw std::runtime_error("no disk can be put before SQLite");
}

FailingDisk::~FailingDisk() {
  sqlite3_vfs_unregister(&failing_system);
  sqlite3_vfs_register(real_system, 1);
  disk = nullptr;
}

}  // namespace ff::test
