#include "process/tokens.h"

#include <future>

namespace ff::test {

Tokens::Tokens(const std::string& store_url) {
  OpenOptions options;
  options.sweeps = false;
  fabric_ = open(store_url, std::move(options)).value();
}

Tokens::~Tokens() { fabric_.close(); }

engine::Engine& Tokens::engine() const {
  return std::dynamic_pointer_cast<api::EmbeddedBackend>(fabric_.backend())->engine();
}

std::string Tokens::create(std::vector<std::string> scopes, std::optional<std::string> namespace_,
                           std::optional<std::uint64_t> ttl_ms) {
  std::promise<Result<engine::MintedToken>> made;
  engine::NewToken request{"test", std::move(scopes), std::move(namespace_), ttl_ms};
  engine().create_token(std::move(request), {}, [&](Result<engine::MintedToken> minted) { made.set_value(std::move(minted)); });
  return made.get_future().get().value().text;
}

void Tokens::revoke(const std::string& text) {
  std::promise<Result<core::ApiToken>> revoked;
  engine().revoke_token(engine::read_token_text(text).value().token_id, {},
                        [&](Result<core::ApiToken> token) { revoked.set_value(std::move(token)); });
  (void)revoked.get_future().get().value();
}

}  // namespace ff::test
