#include "store/redis/link.h"

#include "store/redis/library.h"

#include <thread>

namespace ff::store::redis {
namespace {

constexpr std::chrono::milliseconds kFirstPause{1}, kLongestPause{100};
/// While a slot is under way to another server, commands on several of its keys may have to wait until it has arrived:
/// others need not wait as long.
constexpr int kTryAgainMax = 5;

/// What an error reply asks the sender to do.
enum class Advice : std::uint8_t { none, elsewhere, ask, later, load_library };

struct Redirect {
  Advice advice = Advice::none;
  std::optional<Address> to;
};

Redirect read_error(std::string_view text, const Address& asked) {
  auto starts = [&](std::string_view word) { return text.starts_with(word); };
  if (starts("MOVED ") || starts("ASK ")) {
    // "MOVED 3999 127.0.0.1:6381"; a server that leaves the host out means the one that was asked.
    const std::string_view where = text.substr(text.rfind(' ') + 1);
    const auto colon = where.rfind(':');
    Address to{std::string(where.substr(0, colon)), 0};
    if (to.host.empty() || to.host == "?") to.host = asked.host;
    to.port = static_cast<std::uint16_t>(std::atoi(std::string(where.substr(colon + 1)).c_str()));
    return {starts("ASK ") ? Advice::ask : Advice::elsewhere, std::move(to)};
  }
  if (starts("TRYAGAIN") || starts("LOADING") || starts("CLUSTERDOWN") || starts("MASTERDOWN") || starts("READONLY"))
    return {Advice::later, std::nullopt};
  if (is_library_missing(text)) return {Advice::load_library, std::nullopt};
  return {};
}

}  // namespace

/// One command that is still to be answered.
struct Link::Open {
  std::size_t index;
  std::optional<Address> ask;  ///< where to ask, instead of the owner of the slot
};

Result<Connection*> Link::connection(const Address& address) {
  if (auto it = connections_.find(address); it != connections_.end()) return &it->second;
  auto opened = Connection::open(address, topology_->login());
  if (!opened) return std::unexpected(opened.error());
  return &connections_.insert_or_assign(address, std::move(*opened)).first->second;
}

Link::Answers Link::attempt(std::span<const Command> commands, std::chrono::milliseconds patience) {
  Answers answers{std::vector<Reply>(commands.size()), std::nullopt};
  std::vector<Reply>& replies = answers.replies;
  auto give_up = [&](Error error) {
    answers.trouble = std::move(error);
    return std::move(answers);
  };
  std::vector<Open> open(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) open[i].index = i;
  const auto deadline = Steady::now() + patience;
  auto pause = kFirstPause;
  Error last{ErrorCode::store_unavailable, "No server answered in time.", {}};
  int tried_again = 0;

  while (true) {
    const std::uint64_t seen = topology_->generation();
    std::map<Address, std::vector<Open>> by_server;
    for (auto& item : open) {
      const Address to = item.ask ? *item.ask : topology_->owner(commands[item.index].slot());
      by_server[to].push_back(std::move(item));
    }
    open.clear();
    bool wait = false, look_around = false;

    // Everything is sent before anything is read, so that the servers work side by side.
    std::string wire;
    std::vector<std::pair<Connection*, std::vector<Open>*>> sent;
    for (auto& [address, items] : by_server) {
      auto to = connection(address);
      if (!to) {
        if (to.error().code == ErrorCode::store_refused) return give_up(to.error());
        last = to.error();
        wait = look_around = true;
        for (auto& item : items) open.push_back({item.index, std::nullopt});
        continue;
      }
      wire.clear();
      for (const auto& item : items) {
        if (item.ask) Command(0, "ASKING").append_to(wire);
        commands[item.index].append_to(wire);
      }
      // A failure to send shows again when the replies are read.
      (void)(*to)->send(wire);
      sent.emplace_back(*to, &items);
    }
    for (auto& [from, items] : sent) {
      bool broken = false, load_library = false;
      for (auto& item : *items) {
        Result<Reply> reply = core::fail(ErrorCode::store_unavailable, last.message);
        if (!broken) {
          reply = from->receive();
          if (reply && item.ask) reply = from->receive();
        }
        if (!reply) {
          if (!broken) last = reply.error();
          broken = wait = look_around = true;
          if (!commands[item.index].is_once()) open.push_back({item.index, std::nullopt});
          continue;
        }
        Redirect redirect = reply->value().is_error() ? read_error(reply->value().text(), from->address()) : Redirect{};
        if (reply->value().text().starts_with("TRYAGAIN") && tried_again > kTryAgainMax) redirect = {};
        switch (redirect.advice) {
          case Advice::none: replies[item.index] = std::move(*reply); continue;
          case Advice::elsewhere: topology_->moved(commands[item.index].slot(), *redirect.to); break;
          case Advice::ask: break;
          case Advice::later:
            last = error_of(reply->value().text());
            wait = look_around = true;
            break;
          case Advice::load_library: load_library = true; break;
        }
        open.push_back({item.index, redirect.advice == Advice::ask ? redirect.to : std::nullopt});
      }
      if (load_library && !broken)
        if (auto loaded = ensure_library(*from); !loaded) {
          if (loaded.error().code == ErrorCode::store_refused) return give_up(loaded.error());
          last = loaded.error();
          wait = true;
        }
      if (broken) connections_.erase(Address(from->address()));
    }
    if (open.empty()) return answers;
    if (Steady::now() >= deadline) return give_up(last);
    if (look_around) (void)topology_->refresh(seen);
    ++tried_again;
    if (wait) {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }
}

Result<std::vector<Reply>> Link::run(std::span<const Command> commands) {
  Answers answers = attempt(commands);
  if (answers.trouble) return std::unexpected(std::move(*answers.trouble));
  for (const auto& reply : answers.replies)
    if (!reply)
      return core::fail(ErrorCode::store_unavailable, "The connection was lost before the server's answer came.");
  return std::move(answers.replies);
}

Result<Reply> Link::call(const Command& command) {
  auto replies = run(std::span(&command, 1));
  if (!replies) return std::unexpected(replies.error());
  if (auto good = check_all(*replies); !good) return std::unexpected(good.error());
  return std::move(replies->front());
}

Result<void> check_all(std::span<const Reply> replies) {
  for (const auto& reply : replies)
    if (reply.value().is_error()) return std::unexpected(error_of(reply.value().text()));
  return {};
}

}  // namespace ff::store::redis
