// How units become one call of the commit function; flowfabric.lua reads it.

#include "store/redis/commit.h"

namespace ff::store::redis {
namespace {

/// The server's interpreter passes no more than a few thousand arguments to a command.
constexpr std::uint32_t kArgsMax = 1'000;

/// The keys of a call and their numbers.
class Keys {
 public:
  void add(const std::string& name) { args_.add(name); }
  std::size_t number(const std::string& name) {
    const auto [it, added] = numbers_.try_emplace(name, args_.count + 1);
    if (added) args_.add(name);
    return it->second;
  }
  const Args& args() const { return args_; }

 private:
  Args args_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace

std::size_t CommitCall::compare(std::string key, std::string_view expected) {
  compared_.push_back({std::move(key), units_, std::string(expected)});
  return compared_.size() - 1;
}

std::uint32_t CommitCall::unit_of(std::int64_t record) const {
  return compared_[static_cast<std::size_t>(record) - 1].unit;
}

void CommitCall::extend(std::map<std::string, Slices>& commands, const std::string& key,
                        std::initializer_list<std::string_view> args) {
  Slices& slices = commands[key];
  if (slices.empty() || slices.back().count + args.size() > kArgsMax) slices.emplace_back();
  for (std::string_view arg : args) slices.back().add(arg);
}

Command CommitCall::command() const {
  Keys keys;
  Args head, values, commands;
  std::string what;
  head.add(latest_ms_);
  head.add(compared_.size());
  head.add(sets_.size());
  head.add(erased_.size());
  head.add(events_.entries().size());
  for (const auto& record : compared_) {
    keys.add(record.key);
    what.push_back(static_cast<char>(record.what >> 8));
    what.push_back(static_cast<char>(record.what));
    if (record.what > 0) values.add(record.value);
  }
  for (const auto& [key, value] : sets_) {
    keys.add(key);
    values.add(value);
  }
  for (const auto& key : erased_) keys.add(key);
  keys.number(place_.events());
  head.add(what);
  for (const auto& record : compared_) head.add(record.expected);
  for (const auto& entry : events_.entries()) {
    head.add(entry.latest_ms);
    head.add(entry.by_operator ? "a" : "n");
    head.add(entry.count);
    head.add(entry.body);
  }

  auto write = [&](std::string_view name, const std::string& key, const Args& args) {
    commands.add(name);
    commands.add(keys.number(key));
    commands.add(args.count);
    commands.append(args);
  };
  for (const auto& [key, slices] : removes_)
    for (const auto& args : slices) write("ZREM", key, args);
  for (const auto& [key, slices] : adds_)
    for (const auto& args : slices) write("ZADD", key, args);
  for (const auto& [queue, listing] : listings_) {
    Args args;
    if (listing.description) {
      args.add(listing.field);
      args.add(*listing.description);
      write("HSET", listing.queues, args);
    }
    if (!listing.left) continue;
    args.clear();
    args.add(keys.number(listing.queues));
    args.add(listing.field);
    write("unlist", queue, args);
  }
  for (const auto& [field, difference] : counts_) {
    if (difference == 0) continue;
    Args args;
    args.add(field);
    args.add(difference);
    write("count", place_.counts(), args);
  }
  for (const auto& other : others_) write(other.name, other.key, other.args);

  Command command(place_.slot, "FCALL");
  command.args(only_erases_ ? "ff_erase" : "ff_commit", keys.args().count);
  command.append(keys.args()).append(head).append(values).append(commands).once();
  return command;
}

}  // namespace ff::store::redis
