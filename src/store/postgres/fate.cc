// What became of a commit that was not answered.

#include "core/errors.h"
#include "store/postgres/session.h"
#include "store/postgres/statements.h"

#include <thread>

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;

/// How long a batch asks.
constexpr auto kFindOutMax = 5s;
constexpr auto kFindOutPause = 20ms;

/// Asks on a connection that is made again as often as it is lost, until `ask` has an answer.
template <class Ask>
std::expected<bool, std::string> ask_until_known(Connection& connection, const Ask& ask) {
  const auto until = std::chrono::steady_clock::now() + kFindOutMax;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left <= 0ms) return std::unexpected("the database does not answer");
    if (auto opened = connection.open(left); !opened) return std::unexpected(opened.error().message);
    Result<std::optional<bool>> known = ask();
    if (known && *known) return **known;
    if (!known && !is_lost(known.error())) return std::unexpected(known.error().message);
    if (known) std::this_thread::sleep_for(kFindOutPause);
  }
}

}  // namespace

Result<Step> PostgresSession::find_out(std::span<Unit* const> units, const Error& error, const Connection::Peer& asked) {
  in_transaction_ = false;
  const Fate committed = xact_.empty() ? fate_by_rows(units, asked) : fate_by_number(units, asked);
  if (!committed)
    return core::fail(ErrorCode::store_unavailable,
                      fmt::format("{} Whether this call was carried out is not known ({}); repeat it.", error.message,
                                  committed.error()),
                      {{"reason", std::string("outcome_unknown")}});
  if (!*committed)
    return core::fail(ErrorCode::retry_exhausted, "The connection was lost before the commit; nothing was changed.");
  for (Unit* unit : units) unit->outcome = Unit::Outcome::committed;
  tell_others(units);
  return Step::done;
}

PostgresSession::Fate PostgresSession::fate_by_number(std::span<Unit* const> units, const Connection::Peer& asked) {
  const Fate committed = ask_until_known(connection_, [&]() -> Result<std::optional<bool>> {
    auto rows = connection_.query(sql::kXactStatus, Params().bytes(xact_));
    if (!rows && is_lost(rows.error())) return std::unexpected(rows.error());
    // A number that the server has not given out: it forgot the transaction when it crashed.
    if (!rows || rows->is_null(0, 0)) return false;
    if (rows->text(0, 0) == "in progress") return std::nullopt;
    return rows->text(0, 0) == "committed";
  });
  if (!committed || !*committed || connection_.peer().server_started == asked.server_started) return committed;
  // After a crash the server may have given the same number to somebody else: only our own rows prove that it was us.
  ByteaArray ids;
  for (Unit* unit : units)
    for (const auto& slot : unit->set.executions().slots())
      if (slot.dirty) ids.add(IdBytes(slot.key).view());
  const std::string short_number = std::to_string(static_cast<std::uint32_t>(std::stoull(xact_)));
  auto rows = connection_.query(sql::kWrittenBy, Params().array(ids).bytes(short_number));
  if (!rows || rows->number(0, 0) == 0) return std::unexpected("the database was restarted meanwhile");
  return true;
}

/// For a batch that never heard its number, when the process that was asked is gone. Executions with ids of our own making
/// are there, or never will be. One that still is as it was before tells that none was changed.
PostgresSession::Fate PostgresSession::fate_by_rows(std::span<Unit* const> units, const Connection::Peer& asked) {
  ByteaArray made, changed;
  Int8Array versions;
  for (Unit* unit : units)
    for (const auto& slot : unit->set.executions().slots()) {
      if (!slot.dirty || (!slot.value && !slot.stored)) continue;
      (slot.stored ? changed : made).add(IdBytes(slot.key).view());
      if (slot.stored) versions.add(static_cast<std::int64_t>(slot.before->version));
    }
  return ask_until_known(connection_, [&]() -> Result<std::optional<bool>> {
    if (connection_.peer().server_started == asked.server_started) {
      auto runs = connection_.query(sql::kProcessRuns, Params().bytes(asked.process));
      if (!runs) return std::unexpected(runs.error());
      if (runs->number(0, 0) != 0) return std::nullopt;
    }
    auto found = made.empty() ? connection_.query(sql::kAnyAsBefore, Params().array(changed).array(versions))
                              : connection_.query(sql::kAnyMade, Params().array(made));
    if (!found) return std::unexpected(found.error());
    const bool any = found->number(0, 0) != 0;
    if (!made.empty()) return any;
    if (any) return false;
    return core::fail(ErrorCode::store_unavailable, "what it was about has changed since");
  });
}

}  // namespace ff::store::postgres
