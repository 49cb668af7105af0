#include "server/token_book.h"

#include "engine/handles.h"
#include "engine/tokens.h"
#include "server/bearer.h"

namespace ff::server {
namespace {

constexpr std::int64_t kOldMs = 5'000;         ///< a revocation holds everywhere after that
constexpr std::int64_t kReloadAfterMs = 3'500;
constexpr std::int64_t kBetweenReloadsMs = 250;  ///< whoever tries tokens at random does not reach the store more often
constexpr std::int64_t kNoteEveryMs = 60'000;

bool is_same(const std::array<std::uint8_t, 32>& left, const std::array<std::uint8_t, 32>& right) {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) difference |= static_cast<std::uint8_t>(left[i] ^ right[i]);
  return difference == 0;
}

Scopes scopes_of(const core::ApiToken& token) {
  Scopes scopes;
  for (int i = 0; i <= static_cast<int>(Scope::admin); ++i) {
    const auto scope = static_cast<Scope>(i);
    if (std::find(token.scopes.begin(), token.scopes.end(), name_of(scope)) != token.scopes.end())
      scopes = scopes.with(scope);
  }
  return scopes;
}

}  // namespace

TokenBook::TokenBook(TokenBookOptions options) : options_(std::move(options)) {
  if (options_.bootstrap) {
    bootstrap_digest_ = engine::sha256(*options_.bootstrap);
    options_.bootstrap = "";  // only that there is one is needed from now on
  }
}

bool TokenBook::is_open() const {
  std::lock_guard guard(mutex_);
  return !options_.bootstrap && !seen_any_;
}

bool TokenBook::has_valid() const {
  if (options_.bootstrap) return true;
  std::lock_guard guard(mutex_);
  const TimeMs now = options_.store_ms();
  return std::any_of(tokens_.begin(), tokens_.end(), [now](const auto& entry) { return is_valid(entry.second, now); });
}

std::optional<Principal> TokenBook::find(const Uuid& token_id, const std::string& secret_hash) {
  Principal principal;
  {
    std::lock_guard guard(mutex_);
    auto found = tokens_.find(token_id);
    if (found == tokens_.end() || !engine::is_same_hash(found->second.token_hash, secret_hash) ||
        !is_valid(found->second, options_.store_ms()))
      return std::nullopt;
    principal.actor = token_id.to_string();
    principal.name = found->second.name;
    principal.namespace_ = found->second.namespace_;
    principal.scopes = scopes_of(found->second);
    const std::int64_t now_ms = options_.steady_ms();
    auto [noted, first] = noted_at_ms_.try_emplace(token_id, now_ms);
    if (!first && now_ms - noted->second < kNoteEveryMs) return principal;
    noted->second = now_ms;
  }
  if (options_.note_use) options_.note_use(token_id);
  return principal;
}

/// Whether the store has to be asked before this token can be judged.
bool TokenBook::is_due_for(const Uuid& token_id) const {
  std::lock_guard guard(mutex_);
  const std::int64_t now_ms = options_.steady_ms();
  if (!loaded_at_ms_ || now_ms - *loaded_at_ms_ > kOldMs) return true;
  return !tokens_.contains(token_id) && now_ms - began_at_ms_ >= kBetweenReloadsMs;
}

void TokenBook::authenticate(const Request& request, Authenticated done) {
  const auto given = bearer_token(request.headers);
  if (!given) return done(std::nullopt);
  if (options_.bootstrap && is_same(engine::sha256(*given), bootstrap_digest_)) {
    Principal principal;
    principal.actor = "api_token";
    principal.name = "api_token";
    return done(std::move(principal));
  }
  auto text = engine::read_token_text(*given);
  if (!text) return done(std::nullopt);
  if (!is_due_for(text->token_id)) return done(find(text->token_id, text->secret_hash));
  wait_for_reload([self = shared_from_this(), text = std::move(*text), done = std::move(done)](
                      const core::Fault& fault) mutable {
    if (fault) return done(std::unexpected(*fault));
    done(self->find(text.token_id, text.secret_hash));
  });
}

void TokenBook::look() {
  {
    std::lock_guard guard(mutex_);
    if (loaded_at_ms_ && options_.steady_ms() - *loaded_at_ms_ < kReloadAfterMs) return;
  }
  reload();
}

void TokenBook::reload(std::move_only_function<void(core::Fault)> done) {
  wait_for_reload([done = std::move(done)](const core::Fault& fault) mutable {
    if (done) done(fault);
  });
}

/// All who wait share one reading.
void TokenBook::wait_for_reload(Waiting waiting) {
  {
    std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(waiting));
    if (std::exchange(loading_, true)) return;
    began_at_ms_ = options_.steady_ms();
  }
  options_.list([weak = weak_from_this()](Result<std::vector<core::ApiToken>> tokens) {
    if (auto self = weak.lock()) self->loaded(std::move(tokens));
  });
}

void TokenBook::loaded(Result<std::vector<core::ApiToken>> tokens) {
  std::vector<Waiting> told;
  core::Fault fault;
  {
    std::lock_guard guard(mutex_);
    loading_ = false;
    told.swap(waiting_);
    if (tokens) {
      loaded_at_ms_ = began_at_ms_;
      seen_any_ = seen_any_ || !tokens->empty();
      tokens_.clear();
      for (auto& token : *tokens) tokens_.emplace(token.token_id, std::move(token));
      std::erase_if(noted_at_ms_, [this](const auto& entry) { return !tokens_.contains(entry.first); });
    } else {
      fault = std::move(tokens.error());
    }
  }
  for (auto& each : told) each(fault);
}

}  // namespace ff::server
