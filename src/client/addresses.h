#pragma once

// From the name of a host to addresses.

#include "client/endpoint.h"
#include "client/loop.h"

#include <sys/socket.h>

#include <expected>
#include <memory>
#include <vector>

namespace ff::client {

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// The addresses of an endpoint, or a sentence's end that says why there are none. Asks the network when the host is a
/// name, and waits for it.
std::expected<std::vector<Address>, std::string> look_up(const Endpoint& endpoint);

/// Looks addresses up without holding up the loop, and remembers them until they turn out to be of no use.
class AddressBook {
 public:
  using Found = std::move_only_function<void(const std::expected<std::vector<Address>, std::string>&)>;

  AddressBook(Endpoint endpoint, const std::shared_ptr<Loop>& loop) : endpoint_(std::move(endpoint)), loop_(loop) {}

  /// Calls `found` on the loop's thread, before this returns or later.
  void find(Found found);
  /// None of them could be reached: the next one who asks looks again.
  void distrust() { known_.clear(); }

 private:
  Endpoint endpoint_;
  std::weak_ptr<Loop> loop_;
  std::vector<Address> known_;
  /// Those who wait for a look-up that is under way. Shared with it, because it may outlive the client: nothing can end
  /// it.
  std::shared_ptr<std::vector<Found>> waiting_ = std::make_shared<std::vector<Found>>();
};

}  // namespace ff::client
