#include "core/records/document.h"

namespace ff::core {

std::string_view table_of(DocumentKind kind) {
  switch (kind) {
    case DocumentKind::worker: return "ff_worker_registry";
    case DocumentKind::worker_event: return "ff_worker_registry_event";
    case DocumentKind::api_token: return "ff_api_token";
  }
  return "?";
}

}  // namespace ff::core
