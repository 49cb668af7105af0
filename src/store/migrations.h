#pragma once

#include <span>
#include <string_view>

namespace ff::store {

/// One numbered step of a schema. Steps are only ever added: what was applied once is never edited.
struct Migration {
  int version;
  std::string_view name;
  std::string_view sql;
};

}  // namespace ff::store

namespace ff::store::sqlite {
std::span<const ff::store::Migration> migrations();
}

namespace ff::store::postgres {
std::span<const ff::store::Migration> migrations();
}
