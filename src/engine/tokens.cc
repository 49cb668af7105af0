#include "engine/tokens.h"

#include "engine/handles.h"

#include <openssl/crypto.h>

#include <fmt/format.h>

#include <algorithm>

namespace ff::engine {
namespace {

constexpr std::string_view kPrefix = "ff_";
constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kSecretCharacters = 43;  ///< of so many bytes in base64url

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

std::optional<TokenText> read_token_text(std::string_view text) {
  if (text.size() != kPrefix.size() + kIdDigits + 1 + kSecretCharacters || !text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const std::string_view digits = text.substr(0, kIdDigits);
  const std::string_view secret = text.substr(kIdDigits + 1);
  if (text[kIdDigits] != '_') return std::nullopt;
  auto id = Uuid::parse(fmt::format("{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4), digits.substr(12, 4),
                                    digits.substr(16, 4), digits.substr(20)));
  if (!id || std::any_of(digits.begin(), digits.end(), [](char c) { return c >= 'A' && c <= 'F'; })) return std::nullopt;
  return TokenText{*id, hex(sha256(secret))};
}

bool is_same_hash(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

MintedToken mint_token(const NewToken& request, const Uuid& token_id, Runtime& runtime) {
  std::array<std::uint8_t, kSecretBytes> drawn{};
  runtime.random(drawn);
  const std::string secret = base64url({reinterpret_cast<const char*>(drawn.data()), drawn.size()});
  OPENSSL_cleanse(drawn.data(), drawn.size());
  MintedToken minted;
  minted.token.token_id = token_id;
  minted.token.name = request.name;
  minted.token.token_hash = hex(sha256(secret));
  minted.token.scopes = request.scopes;
  minted.token.namespace_ = request.namespace_;
  minted.text = fmt::format("{}{}_{}", kPrefix, hex(token_id.bytes), secret);
  return minted;
}

}  // namespace ff::engine
