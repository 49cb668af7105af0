// Tokens of the HTTP API.

#include "engine/engine.h"
#include "engine/engine_push.h"

namespace ff::engine {
namespace {

constexpr std::uint32_t kTokensPerPage = 500;
/// Tokens that a data set may have; a server keeps all of them in memory.
constexpr std::size_t kTokensMax = 10'000;

core::Fault check(const NewToken& request) {
  if (auto fault = core::check_kind("name", request.name)) return fault;
  if (request.namespace_)
    if (auto fault = core::check_name("namespace", *request.namespace_)) return fault;
  if (request.scopes.empty())
    return core::invalid_input("scopes", "empty", "Give the token at least one scope; `admin` includes all.");
  for (const auto& scope : request.scopes)
    if (std::find(std::begin(kTokenScopes), std::end(kTokenScopes), scope) == std::end(kTokenScopes))
      return core::invalid_input(
          "scopes", "unknown_value",
          fmt::format("'{}' is no scope; there are {}.", scope, fmt::join(kTokenScopes, ", ")));
  if (request.ttl_ms && *request.ttl_ms == 0)
    return core::invalid_input("ttl_ms", "out_of_range", "A token lives for at least a millisecond.");
  return std::nullopt;
}

}  // namespace

void Engine::create_token(NewToken request, const Call& call, Callback<MintedToken> callback) {
  if (auto fault = check(request)) return callback(std::unexpected(std::move(*fault)));
  MintedToken minted = mint_token(request, mint(), runtime_);
  core::CreateToken op{call.caller, minted.token, request.ttl_ms};
  push(executor_for_name(minted.token.token_id.to_string()), std::move(op), call,
       [callback = std::move(callback), text = std::move(minted.text)](Result<core::ApiToken> token) mutable {
         if (!token) return callback(std::unexpected(token.error()));
         callback(MintedToken{std::move(*token), std::move(text)});
       });
}

void Engine::revoke_token(const Uuid& token_id, const Call& call, Callback<core::ApiToken> callback) {
  push(executor_for_name(token_id.to_string()), core::RevokeToken{call.caller, token_id}, call, std::move(callback));
}

void Engine::note_token_use(const Uuid& token_id) {
  push(executor_for_name(token_id.to_string()), core::NoteTokenUse{token_id}, Call{}, [](const Result<bool>&) {
    // Worth nothing more than a try: the next use is noted again.
  });
}

void Engine::list_tokens(Callback<std::vector<core::ApiToken>> callback) {
  using Tokens = std::vector<core::ApiToken>;
  read<Tokens>(std::move(callback), [this](store::Reader& reader) -> Result<Tokens> {
    Tokens tokens;
    std::string after;
    while (tokens.size() < kTokensMax) {
      auto page = reader.documents(core::DocumentKind::api_token, after, kTokensPerPage);
      if (!page) return std::unexpected(page.error());
      for (const auto& document : *page) {
        auto token = core::read_document<core::ApiToken>(document);
        if (token)
          tokens.push_back(std::move(*token));
        else
          log_.error("a token cannot be read", {{"error", token.error().message}});
      }
      if (page->size() < kTokensPerPage) break;
      after = page->back().id.key;
    }
    return tokens;
  });
}

}  // namespace ff::engine
