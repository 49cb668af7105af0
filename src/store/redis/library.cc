#include "store/redis/library.h"

#include "store/refusal.h"

namespace ff::store::redis {

std::string library_text() { return fmt::format("#!lua name=flowfabric\n{}", library_body()); }

bool is_library_missing(std::string_view error) { return error.find("Function not found") != std::string_view::npos; }

Result<void> ensure_library(Connection& connection) {
  std::string wire;
  Command(0, "FCALL_RO").args("ff_version", 0).append_to(wire);
  if (auto sent = connection.send(wire); !sent) return sent;
  auto version = connection.receive();
  if (!version) return std::unexpected(version.error());
  const Value found = version->value();
  if (found.is_error() && !is_library_missing(found.text())) return std::unexpected(error_of(found.text()));
  if (!found.is_error()) {
    if (found.number() == kLibraryVersion) return {};
    if (found.number() > kLibraryVersion)
      return std::unexpected(
          refusal("schema_too_new",
                  fmt::format("The server {} holds version {} of the function library 'flowfabric', this program "
                              "knows {}. Use a newer program.",
                              connection.address().to_string(), found.number(), kLibraryVersion)));
  }
  auto loaded = connection.call(Command(0, "FUNCTION").args("LOAD", "REPLACE", library_text()));
  if (loaded) return {};
  if (loaded.error().code == ErrorCode::store_refused) return std::unexpected(loaded.error());
  return core::fail(loaded.error().code, fmt::format("The function library cannot be loaded into {}. {}",
                                                     connection.address().to_string(), loaded.error().message));
}

}  // namespace ff::store::redis
