#pragma once

#include "core/operation.h"
#include "core/records/api_token.h"

namespace ff::core {

/// A token that can no longer be used is listed for so long; then it goes.
inline constexpr std::uint64_t kTokenAfterlifeMs = 30ULL * 86'400'000;
inline constexpr std::uint64_t kTokenUseEveryMs = 60'000;

/// Adds a token whose id and secret were minted before.
struct CreateToken {
  using Reply = ApiToken;
  static constexpr std::string_view kName = "create_token";

  Caller caller;
  ApiToken token;  ///< the time of creation is the operation's
  std::optional<std::uint64_t> ttl_ms;
};
void reads(const CreateToken& op, const Records& in, Reads& out);
Decision<ApiToken> decide(const CreateToken& op, const Records& in, TimeMs now);

/// From now on it opens nothing. A second time changes nothing.
struct RevokeToken {
  using Reply = ApiToken;
  static constexpr std::string_view kName = "revoke_token";

  Caller caller;
  Uuid token_id;
};
void reads(const RevokeToken& op, const Records& in, Reads& out);
Decision<ApiToken> decide(const RevokeToken& op, const Records& in, TimeMs now);

/// It was used; noted once a minute.
struct NoteTokenUse {
  using Reply = bool;
  static constexpr std::string_view kName = "note_token_use";

  Uuid token_id;
};
void reads(const NoteTokenUse& op, const Records& in, Reads& out);
Decision<bool> decide(const NoteTokenUse& op, const Records& in, TimeMs now);

/// Removes a document whose time is over: an old token, an old event of the registry.
struct ForgetDocument {
  using Reply = bool;
  static constexpr std::string_view kName = "forget_document";

  DocumentId id;
};
void reads(const ForgetDocument& op, const Records& in, Reads& out);
Decision<bool> decide(const ForgetDocument& op, const Records& in, TimeMs now);

}  // namespace ff::core
