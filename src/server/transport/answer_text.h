#pragma once

// An answer as it goes over the wire.

#include "server/http.h"

namespace ff::server::transport {

struct AnswerForm {
  bool http_1_0 = false;
  bool closes = false;      ///< no further request is taken
  bool in_chunks = false;   ///< the body comes bit by bit
  std::string_view date;
};

/// Status line and headers, with the empty line behind them.
std::string head_text(const Response& response, const AnswerForm& form);

/// One bit of a body.
std::string chunk_text(std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace ff::server::transport
