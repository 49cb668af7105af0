#include "server/principal.h"

namespace ff::server {

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::read: return "read";
    case Scope::submit: return "submit";
    case Scope::signal: return "signal";
    case Scope::worker: return "worker";
    case Scope::operator_: return "operator";
    case Scope::admin: return "admin";
  }
  return "admin";
}

}  // namespace ff::server
