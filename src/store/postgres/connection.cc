#include "store/postgres/connection.h"

#include "core/errors.h"
#include "store/refusal.h"

#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The server ends a statement after the request timeout; a client that hears nothing this much later gives up itself.
constexpr auto kSilenceMargin = 2s;
/// A transaction that holds locks while its client says nothing is ended by the server: the client may be stopped.
constexpr auto kIdleInTransaction = 2s;
constexpr auto kConnectPauseFirst = 20ms, kConnectPauseMax = 500ms;

std::string first_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return std::string(text.substr(0, text.find('\n')));
}

Error unavailable(std::string message) {
  return {ErrorCode::store_unavailable, std::move(message), {{"reason", std::string("connection")}}};
}

/// The same when it was the server that said so.
Error ended(std::string message, std::string_view state) {
  return {ErrorCode::store_unavailable, std::move(message),
          {{"reason", std::string("connection")}, {"sqlstate", std::string(state)}}};
}

}  // namespace

// ---- rows ---------------------------------------------------------------------------------------------------------

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

int Rows::size() const { return result_ ? PQntuples(result_.get()) : 0; }

std::uint64_t Rows::touched() const {
  const char* text = result_ ? PQcmdTuples(result_.get()) : "";
  return std::strtoull(text, nullptr, 10);
}

bool Rows::is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }

std::string_view Rows::text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::number(int row, int column) const {
  const std::string_view bytes = text(row, column);
  if (bytes.empty()) return 0;
  std::uint64_t value = (bytes[0] & 0x80) != 0 && bytes.size() > 1 ? ~std::uint64_t{0} : 0;
  for (char byte : bytes) value = (value << 8) | static_cast<std::uint8_t>(byte);
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> Rows::number_if(int row, int column) const {
  return is_null(row, column) ? std::nullopt : std::optional(number(row, column));
}

// ---- errors -------------------------------------------------------------------------------------------------------

Error error_of(const pg_result* result) {
  const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string_view state = field ? field : "";
  const char* text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  std::string message = text ? first_line(text) : first_line(PQresultErrorMessage(result));
  ErrorContext context{{"sqlstate", std::string(state)}};
  if (state == "40001" || state == "40P01" || state == "55P03" || state == "23505")
    return {ErrorCode::retry_exhausted, "The database found a conflict: " + message, std::move(context)};
  if (state.empty() || state.starts_with("08") || state.starts_with("57P") || state == "25P03" || state == "25006")
    return ended("The database ended the connection: " + message, state);
  if (state == "57014")
    return {ErrorCode::store_unavailable, "The database took too long and the statement was stopped: " + message,
            std::move(context)};
  if (state == "53300") return unavailable("The database has no connection left: " + message);
  if (state.starts_with("53") || state == "54000")
    return {ErrorCode::resource_exhausted, "The database is short of room: " + message, std::move(context)};
  return {ErrorCode::invariant_violation, fmt::format("The database refused a statement ({}): {}", state, message),
          std::move(context)};
}

bool is_lost(const Error& error) {
  return error.code == ErrorCode::store_unavailable && error.context.text("reason") == "connection";
}

Error Connection::lost(std::string_view when) {
  const std::string why = connection_ ? first_line(PQerrorMessage(connection_.get())) : std::string();
  close();
  return unavailable(fmt::format("The connection to Postgres at {} was lost {}{}{}.", target_.shown, when,
                                 why.empty() ? "" : ": ", why));
}

// ---- connecting ---------------------------------------------------------------------------------------------------

/// Outlives the connection that it was made for: whoever cancels need not know whether that still is.
struct Connection::Canceller {
  ~Canceller() { PQfreeCancel(cancel); }

  std::mutex mutex;
  PGcancel* cancel = nullptr;
};

Connection::Connection(Target target, SessionSettings settings)
    : target_(std::move(target)), settings_(std::move(settings)), canceller_(std::make_shared<Canceller>()) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

void Connection::cancel() {
  std::lock_guard guard(canceller_->mutex);
  char why[256];
  if (canceller_->cancel) PQcancel(canceller_->cancel, why, sizeof why);
}

void Connection::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }

void Connection::close() {
  connection_.reset();
  queued_.clear();
  prepared_.clear();
}

Connection::Deadline Connection::deadline() const {
  return Clock::now() + std::chrono::milliseconds(settings_.request_timeout_ms) + kSilenceMargin;
}

int Connection::socket() const { return connection_ ? PQsocket(connection_.get()) : -1; }

int Connection::server_version() const { return connection_ ? PQserverVersion(connection_.get()) : 0; }

Result<void> Connection::open(std::chrono::milliseconds patience) {
  if (connection_) return {};
  const auto until = Clock::now() + patience;
  for (std::chrono::milliseconds pause = kConnectPauseFirst;;
       pause = std::min(pause * 2, std::chrono::milliseconds(kConnectPauseMax))) {
    auto connected = connect(std::max(until, Clock::now() + 100ms));
    if (connected) connected = prepare_session();
    if (connected || connected.error().code != ErrorCode::store_unavailable) return connected;
    if (Clock::now() + pause >= until) return connected;
    std::this_thread::sleep_for(pause);
  }
}

Result<void> Connection::connect(Deadline until) {
  // The URL stands in `dbname` and is expanded there; as the last one, what it says wins over what stands before it.
  const char* keywords[] = {"fallback_application_name", "client_encoding",  "keepalives_idle", "keepalives_interval",
                            "keepalives_count",          "tcp_user_timeout", "dbname",          nullptr};
  const std::string silence = std::to_string(settings_.request_timeout_ms * 2);
  const char* values[] = {settings_.application.c_str(), "UTF8",          "5", "2", "3", silence.c_str(),
                          target_.conninfo.c_str(),      nullptr};
  connection_.reset(PQconnectStartParams(keywords, values, 1));
  if (!connection_) return std::unexpected(unavailable("No memory for a connection."));
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (PQstatus(connection_.get()) != CONNECTION_BAD && state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
    if (!wait(state == PGRES_POLLING_WRITING, until)) break;
    state = PQconnectPoll(connection_.get());
  }
  if (PQstatus(connection_.get()) == CONNECTION_OK) return {};
  const std::string why = PQerrorMessage(connection_.get());
  close();
  auto says = [&](std::string_view part) { return why.find(part) != std::string::npos; };
  if (says("password authentication failed") || says("no password supplied") || says("no pg_hba.conf entry") ||
      (says("role \"") && says("does not exist")))
    return std::unexpected(
        refusal("unsafe_settings", fmt::format("Postgres at {} does not let this user in: {}. Check user and "
                                               "password of the store URL.",
                                               target_.shown, first_line(why))));
  if (says("database \"") && says("does not exist"))
    return std::unexpected(refusal("unsafe_settings", fmt::format("Postgres at {} has no such database. Create it with "
                                                                  "`createdb`.",
                                                                  target_.shown)));
  return std::unexpected(unavailable(fmt::format("Postgres at {} cannot be reached: {}", target_.shown,
                                                 why.empty() ? "it does not answer" : first_line(why))));
}

Result<void> Connection::prepare_session() {
  PQsetnonblocking(connection_.get(), 1);
  PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);  // libpq would print them
  // Our statements are written for their keys; plans are made once and kept, and must not depend on how large the
  // tables happened to be then. So no table is read from end to end, and what a batch brings along is matched by hash
  // with rows that were found by their keys: a nested loop only where a statement says LATERAL.
  const std::string setup = fmt::format(
      "SET search_path = {}; SET client_min_messages = warning; SET standard_conforming_strings = on; "
      "SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {}; "
      "SET default_transaction_isolation = 'read committed'; SET jit = off; SET plan_cache_mode = force_generic_plan; "
      "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_nestloop = off; SET enable_mergejoin = off; "
      "SET enable_sort = off; {}"
      "SELECT pg_postmaster_start_time()::text, pg_backend_pid()::text",
      target_.schema, settings_.request_timeout_ms, settings_.request_timeout_ms,
      std::chrono::milliseconds(kIdleInTransaction).count(), settings_.durable ? "" : "SET synchronous_commit = off; ");
  auto done = execute(setup);
  if (!done) return std::unexpected(done.error());
  peer_ = {std::string(done->text(0, 0)), std::string(done->text(0, 1))};
  std::lock_guard guard(canceller_->mutex);
  PQfreeCancel(canceller_->cancel);
  canceller_->cancel = PQgetCancel(connection_.get());
  return {};
}

// ---- talking ------------------------------------------------------------------------------------------------------

bool Connection::wait(bool for_write, Deadline until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd item{PQsocket(connection_.get()), static_cast<short>(for_write ? POLLIN | POLLOUT : POLLIN), 0};
    const int ready = poll(&item, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

/// Sends what libpq has buffered, taking in answers meanwhile: a server that waits for us to read must not wait for
/// ever.
Result<void> Connection::push(Deadline until) {
  while (true) {
    const int left = PQflush(connection_.get());
    if (left == 0) return {};
    if (left < 0 || !wait(true, until) || PQconsumeInput(connection_.get()) == 0)
      return std::unexpected(lost("while a request was sent"));
  }
}

Result<pg_result*> Connection::next(Deadline until) {
  while (PQisBusy(connection_.get())) {
    if (!wait(false, until)) {
      close();
      return std::unexpected(unavailable(fmt::format("Postgres at {} has not answered in time.", target_.shown)));
    }
    if (PQconsumeInput(connection_.get()) == 0) return std::unexpected(lost("while an answer was awaited"));
  }
  return PQgetResult(connection_.get());
}

void Connection::queue(const Sql& sql, Params params) { queued_.push_back({&sql, std::move(params)}); }

void Connection::queue_push() { queued_.back().push = true; }

Result<std::vector<Rows>> Connection::flush() {
  answered_.clear();
  if (!connection_) {
    queued_.clear();
    return std::unexpected(unavailable(fmt::format("There is no connection to Postgres at {}.", target_.shown)));
  }
  if (PQenterPipelineMode(connection_.get()) == 0) return std::unexpected(lost("before a request"));
  std::vector<Queued> batch = std::exchange(queued_, {});
  std::vector<const char*> results;  // in order: the name that is prepared, or null for the answer of a statement
  bool sent = true;
  for (auto& [sql, params, push_after] : batch) {
    if (prepared_.insert(sql->name).second) {
      sent = sent && PQsendPrepare(connection_.get(), sql->name, sql->text, 0, nullptr) == 1;
      results.push_back(sql->name);
    }
    sent = sent && PQsendQueryPrepared(connection_.get(), sql->name, params.count(), params.values(), params.lengths(),
                                       params.formats(), 1) == 1;
    results.push_back(nullptr);
    if (push_after) sent = sent && PQsendFlushRequest(connection_.get()) == 1;
  }
  sent = sent && PQpipelineSync(connection_.get()) == 1;
  if (!sent) return std::unexpected(lost("while a request was made"));
  const Deadline until = deadline();
  if (auto pushed = push(until); !pushed) return std::unexpected(pushed.error());

  std::optional<Error> failure;
  for (std::size_t at = 0; at < results.size();) {
    auto result = next(until);
    if (!result) return std::unexpected(result.error());
    if (!*result) {
      ++at;
      continue;
    }
    Rows rows(*result);
    const ExecStatusType status = PQresultStatus(*result);
    const bool refused = status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE;
    if (results[at] && (refused || status == PGRES_PIPELINE_ABORTED)) prepared_.erase(results[at]);
    if (refused) {
      if (!failure) failure = error_of(*result);
      if (PQstatus(connection_.get()) == CONNECTION_BAD) {
        close();
        return std::unexpected(std::move(*failure));
      }
    } else if (!results[at] && !failure) {
      answered_.push_back(std::move(rows));
    }
  }
  while (true) {  // the end of the pipeline
    auto result = next(until);
    if (!result) return std::unexpected(result.error());
    if (!*result) {
      if (PQstatus(connection_.get()) == CONNECTION_BAD) return std::unexpected(lost("at the end of a request"));
      continue;
    }
    const bool end = PQresultStatus(*result) == PGRES_PIPELINE_SYNC;
    PQclear(*result);
    if (end) break;
  }
  PQexitPipelineMode(connection_.get());
  if (!failure) return std::exchange(answered_, {});
  if (is_lost(*failure)) close();
  return std::unexpected(std::move(*failure));
}

Result<Rows> Connection::query(const Sql& sql, Params params) {
  queue(sql, std::move(params));
  auto answers = flush();
  if (!answers) return std::unexpected(answers.error());
  return std::move(answers->front());
}

Result<Rows> Connection::execute(const std::string& script) {
  return execute(script, std::chrono::ceil<std::chrono::milliseconds>(deadline() - Clock::now()));
}

Result<Rows> Connection::execute(const std::string& script, std::chrono::milliseconds patience) {
  if (!connection_)
    return std::unexpected(unavailable(fmt::format("There is no connection to Postgres at {}.", target_.shown)));
  const Deadline until = Clock::now() + patience;
  if (PQsendQuery(connection_.get(), script.c_str()) == 0) return std::unexpected(lost("while a request was made"));
  if (auto pushed = push(until); !pushed) return std::unexpected(pushed.error());
  Rows last;
  std::optional<Error> failure;
  while (true) {
    auto result = next(until);
    if (!result) return std::unexpected(result.error());
    if (!*result) break;
    const ExecStatusType status = PQresultStatus(*result);
    Rows rows(*result);
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) {
      if (!failure) failure = error_of(*result);
    } else {
      last = std::move(rows);
    }
  }
  if (!failure) return last;
  if (PQstatus(connection_.get()) == CONNECTION_BAD) close();
  return std::unexpected(std::move(*failure));
}

Result<std::vector<std::string>> Connection::notifications() {
  std::vector<std::string> heard;
  if (!connection_ || PQconsumeInput(connection_.get()) == 0) return std::unexpected(lost("while it was listened to"));
  while (PGnotify* note = PQnotifies(connection_.get())) {
    heard.emplace_back(note->extra);
    PQfreemem(note);
  }
  return heard;
}

}  // namespace ff::store::postgres
