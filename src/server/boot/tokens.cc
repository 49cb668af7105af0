#include "server/boot/tokens.h"

#include "api/embedded.h"
#include "server/boot/clocks.h"

#include <future>

namespace ff::server {

Result<std::shared_ptr<TokenBook>> open_tokens(const std::shared_ptr<api::EmbeddedBackend>& backend, const Settings& settings,
                                               std::int64_t clock_difference_ms) {
  // The book may be asked by a request that outlives the engine.
  std::weak_ptr<api::EmbeddedBackend> weak = backend;
  TokenBookOptions options;
  options.list = [weak](Callback<std::vector<core::ApiToken>> done) {
    if (auto alive = weak.lock()) return alive->engine().list_tokens(std::move(done));
    done(core::fail(ErrorCode::draining, "This server is shutting down."));
  };
  options.note_use = [weak](const Uuid& token_id) {
    if (auto alive = weak.lock()) alive->engine().note_token_use(token_id);
  };
  options.steady_ms = steady_ms;
  options.store_ms = [clock_difference_ms] { return wall_ms() + clock_difference_ms; };
  options.bootstrap = settings.api_token;
  auto book = std::make_shared<TokenBook>(std::move(options));
  std::promise<core::Fault> loaded;
  book->reload([&](core::Fault fault) { loaded.set_value(std::move(fault)); });
  if (auto fault = loaded.get_future().get()) return std::unexpected(std::move(*fault));
  return book;
}

}  // namespace ff::server
