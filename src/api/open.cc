#include "api/embedded.h"
#include "client/open_remote.h"
#include "store/open_store.h"

namespace ff {

Result<Fabric> open(const std::string& url, OpenOptions options) {
  if (client::is_server_url(url)) return client::open_remote(url, options);
  auto runtime = engine::make_thread_runtime();
  Log log(options.log);
  store::StoreOptions store_options;
  store_options.clock = options.clock;
  store_options.auto_migrate = options.auto_migrate;
  store_options.allow_unsafe = options.allow_unsafe_store;
  store_options.create = options.create;
  store_options.request_timeout_ms = options.store_request_timeout_ms;
  store_options.warn = [log](std::string_view message) { log.warn(message); };
  auto store = store::open_store(url, store_options);
  if (!store) return std::unexpected(store.error());
  auto engine = engine::Engine::open(std::move(*store), std::move(options), *runtime);
  if (!engine) return std::unexpected(engine.error());
  return Fabric(api::EmbeddedBackend::make(std::move(runtime), std::move(*engine)));
}

}  // namespace ff
