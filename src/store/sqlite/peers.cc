#include "store/sqlite/peers.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace ff::store::sqlite {
namespace {

using Clock = std::chrono::steady_clock;

/// Which byte of the file is locked: by all that have the database open, by the one that writes next.
constexpr off_t kPresence = 0, kNextWriter = 1;

constexpr auto kStep = std::chrono::microseconds(500);
/// Longer than a commit takes on a slow disk. Whoever waited in vain does not queue for a while.
constexpr auto kPatience = std::chrono::seconds(2);
constexpr auto kPassBy = std::chrono::seconds(20);

std::string path_of(const std::string& database_path) { return database_path + "-peers"; }

int open_file(const std::string& database_path) {
  return ::open(path_of(database_path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
}

struct flock lock_of(short type, off_t byte) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

bool set(int fd, short type, off_t byte) {
  struct flock lock = lock_of(type, byte);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

std::unexpected<Error> cannot_lock(const std::string& database_path) {
  return core::fail(ErrorCode::store_unavailable,
                    fmt::format("'{}' cannot be created and locked ({}). The folder of the database must be writable.",
                                path_of(database_path), std::strerror(errno)),
                    {{"reason", std::string("cannot_open")}});
}

}  // namespace

// ---- who else is there --------------------------------------------------------------------------------------------

Peers::~Peers() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Peers::join(const std::string& database_path) {
  fd_ = open_file(database_path);
  if (fd_ < 0 || !set(fd_, F_RDLCK, kPresence)) return cannot_lock(database_path);
  return {};
}

bool Peers::others_present() const {
  struct flock lock = lock_of(F_WRLCK, kPresence);
  return fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// ---- whose turn it is ---------------------------------------------------------------------------------------------

Turnstile::~Turnstile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Turnstile::open(const std::string& database_path) {
  fd_ = open_file(database_path);
  if (fd_ < 0) return cannot_lock(database_path);
  return {};
}

void Turnstile::enter() {
  entered_ = set(fd_, F_WRLCK, kNextWriter);
  const auto now = Clock::now();
  if (entered_ || now < passed_by_until_) return;
  while (!entered_ && Clock::now() < now + kPatience) {
    std::this_thread::sleep_for(kStep);
    entered_ = set(fd_, F_WRLCK, kNextWriter);
  }
  if (!entered_) passed_by_until_ = Clock::now() + kPassBy;
}

void Turnstile::leave() {
  if (entered_) set(fd_, F_UNLCK, kNextWriter);
  entered_ = false;
}

}  // namespace ff::store::sqlite
