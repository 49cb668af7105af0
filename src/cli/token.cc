// Tokens that open the HTTP API. They are managed on the store itself: whoever can reach that needs no token.

#include "cli/commands.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/values.h"
#include "engine/engine.h"

#include <CLI/CLI.hpp>

#include <future>

namespace ff::cli {
namespace {

struct NewWords {
  std::string name;
  std::vector<std::string> scopes;
  std::optional<std::string> namespace_;
  std::optional<std::string> expires;
};

engine::Call call_of_a_person() {
  core::Caller caller;
  caller.actor = caller_identity();
  return {std::move(caller), false};
}

/// Makes a call of the engine and waits for its answer.
template <class Reply, class Start>
Result<Reply> answer_of(Start start) {
  auto promise = std::make_shared<std::promise<Result<Reply>>>();
  auto future = promise->get_future();
  start([promise](Result<Reply> reply) { promise->set_value(std::move(reply)); });
  return future.get();
}

/// A token as it may be shown: what opens something is not in it.
core::json::object shown(const core::ApiToken& token) {
  core::json::object document = core::to_value(token).as_object();
  document.erase("token_hash");
  return document;
}

Result<std::optional<std::uint64_t>> time_to_live(const Fabric& fabric, const std::optional<std::string>& expires) {
  if (!expires) return std::nullopt;
  auto info = fabric.info();
  if (!info) return std::unexpected(info.error());
  auto at = parse_time(*expires, info->server_time_ms, Side::future);
  if (!at) return std::unexpected(at.error());
  if (*at <= info->server_time_ms)
    return std::unexpected(core::invalid_input("expires", "out_of_range", "--expires: that time is over already."));
  return static_cast<std::uint64_t>(*at - info->server_time_ms);
}

Result<int> run_create(Globals& globals, const NewWords& words) {
  auto fabric = open_fabric(globals, Use::create);
  if (!fabric) return std::unexpected(fabric.error());
  auto engine = engine_of(*fabric);
  if (!engine) return std::unexpected(engine.error());
  auto ttl_ms = time_to_live(*fabric, words.expires);
  if (!ttl_ms) return std::unexpected(ttl_ms.error());
  engine::NewToken request{words.name, words.scopes, words.namespace_, *ttl_ms};
  auto minted = answer_of<engine::MintedToken>(
      [&](auto done) { (*engine)->create_token(std::move(request), call_of_a_person(), std::move(done)); });
  if (!minted) return std::unexpected(minted.error());
  if (globals.output.json()) {
    core::json::object document = shown(minted->token);
    document["token"] = minted->text;
    globals.output.document(document);
    return kDone;
  }
  // Alone on standard output, so that a script can take it.
  globals.output.line(minted->text);
  globals.output.remark(fmt::format("Token {} is shown this once: keep it where your callers find it.",
                                    minted->token.token_id.to_string()));
  return kDone;
}

Table::Cell state_of(const core::ApiToken& token, TimeMs now) {
  if (token.revoked_at_ms) return {"revoked", Colour::red};
  if (!core::is_valid(token, now)) return {"expired", Colour::yellow};
  return {"valid", Colour::green};
}

Result<int> run_list(Globals& globals) {
  auto fabric = open_fabric(globals, Use::look);
  if (!fabric) return std::unexpected(fabric.error());
  auto engine = engine_of(*fabric);
  if (!engine) return std::unexpected(engine.error());
  auto tokens = answer_of<std::vector<core::ApiToken>>([&](auto done) { (*engine)->list_tokens(std::move(done)); });
  if (!tokens) return std::unexpected(tokens.error());
  if (globals.output.json()) {
    core::json::array documents;
    for (const auto& token : *tokens) documents.push_back(shown(token));
    globals.output.document(documents);
    return kDone;
  }
  if (tokens->empty()) {
    globals.output.remark("No tokens. `ff token create` makes one.");
    return kDone;
  }
  auto info = fabric->info();
  if (!info) return std::unexpected(info.error());
  const TimeMs now = info->server_time_ms;
  Table table({{"TOKEN"}, {"NAME"}, {"STATE"}, {"SCOPES"}, {"NAMESPACE"}, {"CREATED"}, {"EXPIRES"}, {"LAST USED"}});
  for (const auto& token : *tokens)
    table.add({token.token_id.to_string(), printable(token.name, 40), state_of(token, now),
               fmt::format("{}", fmt::join(token.scopes, ",")), token.namespace_.value_or("all"),
               relative_text(token.created_at_ms, now),
               token.expires_at_ms ? relative_text(*token.expires_at_ms, now) : "never",
               token.last_used_at_ms ? relative_text(*token.last_used_at_ms, now) : "never"});
  table.print(globals.output);
  return kDone;
}

Result<int> run_revoke(Globals& globals, const std::string& id_text) {
  const auto id = Uuid::parse(id_text);
  if (!id)
    return std::unexpected(core::invalid_input("token", "invalid_uuid",
                                               "A token is named by its id, as `ff token list` shows it, not by its text."));
  auto fabric = open_fabric(globals, Use::change);
  if (!fabric) return std::unexpected(fabric.error());
  auto engine = engine_of(*fabric);
  if (!engine) return std::unexpected(engine.error());
  auto token = answer_of<core::ApiToken>(
      [&](auto done) { (*engine)->revoke_token(*id, call_of_a_person(), std::move(done)); });
  if (!token) return std::unexpected(token.error());
  if (globals.output.json()) {
    globals.output.document(shown(*token));
    return kDone;
  }
  globals.output.line(fmt::format("{}  revoked", token->token_id.to_string()));
  return kDone;
}

}  // namespace

void add_token(Program& program) {
  Globals& globals = program.globals;
  CLI::App* token = program.add(nullptr, "token", "Make, list and revoke tokens of the HTTP API",
                                "  ff token create --name ci --scope submit,read --expires 90d\n  ff token list");
  token->require_subcommand(1);

  auto words = std::make_shared<NewWords>();
  CLI::App* create = program.add(token, "create",
                                 "Make a token and show it, once: the store keeps only its hash.\n"
                                 "Scopes: read, submit, signal, worker, operator (includes the first three), admin (all)",
                                 "  ff token create --name 'picture workers' --scope worker --namespace shop\n"
                                 "  FF_TOKEN=$(ff token create --name ci --scope submit,read --expires 90d)");
  create->add_option("--name", words->name, "What it is for, to tell it from others")->required();
  create->add_option("--scope", words->scopes, "What it may do; several separated by commas")->required()->delimiter(',');
  create->add_option("--namespace", words->namespace_, "It sees and changes nothing of others");
  create->add_option("--expires", words->expires, "A time, or a duration from now; never when not given");
  program.on(create, [&globals, words] { return run_create(globals, *words); });

  CLI::App* list = program.add(token, "list", "List the tokens, without what opens anything", "  ff token list --json");
  program.on(list, [&globals] { return run_list(globals); });

  auto id = std::make_shared<std::string>();
  CLI::App* revoke = program.add(token, "revoke", "End a token for good; servers notice within seconds",
                                 "  ff token revoke 01a1e26d-ae05-7000-b1d6-ec2e14ecc81a");
  revoke->add_option("ID", *id, "The token, by the id that the list shows")->required();
  program.on(revoke, [&globals, id] { return run_revoke(globals, *id); });
}

}  // namespace ff::cli
