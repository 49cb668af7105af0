#pragma once

#include "core/errors.h"

namespace ff::store {

/// `store_refused`: opening a store was refused, with the reason in the context.
inline Error refusal(std::string reason, std::string message) {
  return {ErrorCode::store_refused, std::move(message), {{"reason", std::move(reason)}}};
}

}  // namespace ff::store
