#pragma once

// What nearly every source includes, compiled once.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
