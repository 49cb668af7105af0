#pragma once

namespace ff {
inline constexpr const char* kVersion = "0.1.0";
}
