#include "core/ops/tokens.h"

#include "core/lease.h"

namespace ff::core {
namespace {

void save(Writes& writes, const ApiToken& token) {
  std::optional<TimeMs> over = token.revoked_at_ms;
  if (token.expires_at_ms && (!over || *token.expires_at_ms < *over)) over = token.expires_at_ms;
  writes.document(make_document(token_key(token.token_id), token,
                                over ? std::optional(add_ms(*over, kTokenAfterlifeMs)) : std::nullopt));
}

/// What an audit says of a token: never its hash.
json::object details_of(const ApiToken& token) {
  json::object details{{"token_id", token.token_id.to_string()}, {"name", token.name}, {"scopes", to_value(token.scopes)}};
  if (token.namespace_) details["namespace"] = *token.namespace_;
  return details;
}

Error unknown(const Uuid& token_id) {
  return {ErrorCode::token_not_found, fmt::format("There is no token {}. `ff token list` shows them.", token_id.to_string()),
          {{"token_id", token_id.to_string()}}};
}

Result<ApiToken> find(const Records& in, const Uuid& token_id) {
  const Document* document = in.document(token_key(token_id));
  if (!document) return std::unexpected(unknown(token_id));
  return read_document<ApiToken>(*document);
}

}  // namespace

void reads(const CreateToken& op, const Records&, Reads& out) { out.document(token_key(op.token.token_id)); }

Decision<ApiToken> decide(const CreateToken& op, const Records& in, TimeMs now) {
  Writes writes(now);
  if (in.document(token_key(op.token.token_id))) return {find(in, op.token.token_id), std::move(writes)};
  ApiToken token = op.token;
  token.created_at_ms = now;
  if (op.ttl_ms) token.expires_at_ms = add_ms(now, *op.ttl_ms);
  save(writes, token);
  writes.append(operator_event(token.namespace_.value_or("default"), "token_created", op.caller, details_of(token), now));
  return {token, std::move(writes)};
}

void reads(const RevokeToken& op, const Records&, Reads& out) { out.document(token_key(op.token_id)); }

Decision<ApiToken> decide(const RevokeToken& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto token = find(in, op.token_id);
  if (!token || token->revoked_at_ms) return {token, std::move(writes)};
  token->revoked_at_ms = now;
  save(writes, *token);
  writes.append(
      operator_event(token->namespace_.value_or("default"), "token_revoked", op.caller, details_of(*token), now));
  return {token, std::move(writes)};
}

void reads(const NoteTokenUse& op, const Records&, Reads& out) { out.document(token_key(op.token_id)); }

Decision<bool> decide(const NoteTokenUse& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto token = find(in, op.token_id);
  if (!token) return {std::unexpected(token.error()), std::move(writes)};
  if (token->last_used_at_ms && add_ms(*token->last_used_at_ms, kTokenUseEveryMs) > now) return {false, std::move(writes)};
  token->last_used_at_ms = now;
  save(writes, *token);
  return {true, std::move(writes)};
}

void reads(const ForgetDocument& op, const Records&, Reads& out) { out.document(op.id); }

Decision<bool> decide(const ForgetDocument& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const Document* document = in.document(op.id);
  if (!document || !document->due_at_ms || *document->due_at_ms > now) return {false, std::move(writes)};
  writes.erase(op.id);
  return {true, std::move(writes)};
}

}  // namespace ff::core
