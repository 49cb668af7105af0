#include "engine/handles.h"

#include "core/bytes.h"
#include "core/validate.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstring>

namespace ff::engine {
namespace {

constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kLaneAt = 73;  ///< where the lane begins: after the fixed fields and its length
constexpr std::size_t kTextMin = 120, kTextMax = 204;
constexpr char kVersion = 1;

using core::get;
using core::get_uuid;
using core::put;

Error bad_handle(std::string_view detail) {
  return {ErrorCode::invalid_handle,
          fmt::format("This is not a handle of this data set ({}). Use the handle exactly as the claim returned it.", detail),
          {{"detail", std::string(detail)}}};
}

}  // namespace

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  std::array<std::uint8_t, 32> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

/// HMAC-SHA-256 with both padded keys hashed in advance: a tag costs two short hashes.
struct HandleSealer::Keyed {
  EVP_MD_CTX* inner = EVP_MD_CTX_new();
  EVP_MD_CTX* outer = EVP_MD_CTX_new();

  explicit Keyed(const std::array<std::uint8_t, 32>& key) {
    std::array<std::uint8_t, 64> pad{};
    std::copy(key.begin(), key.end(), pad.begin());
    for (auto& byte : pad) byte ^= 0x36;
    EVP_DigestInit_ex(inner, EVP_sha256(), nullptr);
    EVP_DigestUpdate(inner, pad.data(), pad.size());
    for (auto& byte : pad) byte ^= 0x36 ^ 0x5c;
    EVP_DigestInit_ex(outer, EVP_sha256(), nullptr);
    EVP_DigestUpdate(outer, pad.data(), pad.size());
    OPENSSL_cleanse(pad.data(), pad.size());
  }
  ~Keyed() {
    EVP_MD_CTX_free(inner);
    EVP_MD_CTX_free(outer);
  }
};

HandleSealer::HandleSealer(const core::Dataset& dataset)
    : data_set_id_(dataset.data_set_id),
      partitions_(dataset.partitioning.num_flow_partitions),
      keyed_(std::make_unique<Keyed>(dataset.handle_key)) {}

HandleSealer::~HandleSealer() = default;

std::array<std::uint8_t, 16> HandleSealer::tag(std::string_view bytes) const {
  thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> work(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::array<std::uint8_t, 32> digest{};
  EVP_MD_CTX_copy_ex(work.get(), keyed_->inner);
  EVP_DigestUpdate(work.get(), bytes.data(), bytes.size());
  EVP_DigestFinal_ex(work.get(), digest.data(), nullptr);
  EVP_MD_CTX_copy_ex(work.get(), keyed_->outer);
  EVP_DigestUpdate(work.get(), digest.data(), digest.size());
  EVP_DigestFinal_ex(work.get(), digest.data(), nullptr);
  std::array<std::uint8_t, 16> tag{};
  std::copy_n(digest.begin(), tag.size(), tag.begin());
  return tag;
}

std::string HandleSealer::seal(const core::TaskHandle& handle) const {
  std::string bytes;
  bytes.reserve(kLaneAt + handle.lane_id.size() + kTagBytes);
  bytes.push_back(kVersion);
  bytes.push_back(static_cast<char>(handle.kind));
  bytes.append(reinterpret_cast<const char*>(data_set_id_.bytes.data()), 8);
  put(bytes, handle.execution_id.partition);
  bytes.append(core::raw_bytes(handle.execution_id.uuid));
  put(bytes, handle.attempt_index);
  bytes.append(core::raw_bytes(handle.attempt_id));
  bytes.append(core::raw_bytes(handle.lease_id));
  put(bytes, handle.lease_epoch);
  bytes.push_back(static_cast<char>(handle.lane_id.size()));
  bytes.append(handle.lane_id);
  const auto mac = tag(bytes);
  bytes.append(reinterpret_cast<const char*>(mac.data()), mac.size());
  return base64url(bytes);
}

Result<core::TaskHandle> HandleSealer::open(std::string_view text) const {
  auto refuse = [](std::string_view detail) { return std::unexpected(bad_handle(detail)); };
  if (text.size() < kTextMin || text.size() > kTextMax) return refuse("malformed");
  const auto decoded = from_base64url(text);
  if (!decoded) return refuse("malformed");
  const std::string_view bytes(*decoded);
  if (bytes[0] != kVersion) return refuse("unsupported_version");
  const auto lane_bytes = static_cast<std::uint8_t>(bytes[kLaneAt - 1]);
  if (lane_bytes < 1 || lane_bytes > core::kLaneBytesMax || bytes.size() != kLaneAt + lane_bytes + kTagBytes)
    return refuse("malformed");
  if (std::memcmp(bytes.data() + 2, data_set_id_.bytes.data(), 8) != 0) return refuse("other_data_set");
  const auto mac = tag(bytes.substr(0, kLaneAt + lane_bytes));
  if (CRYPTO_memcmp(mac.data(), bytes.data() + kLaneAt + lane_bytes, kTagBytes) != 0) return refuse("altered");

  core::TaskHandle handle;
  handle.kind = static_cast<HandleKind>(bytes[1]);
  handle.execution_id = {get<std::uint16_t>(bytes, 10), get_uuid(bytes, 12)};
  handle.attempt_index = get<std::uint32_t>(bytes, 28);
  handle.attempt_id = get_uuid(bytes, 32);
  handle.lease_id = get_uuid(bytes, 48);
  handle.lease_epoch = get<std::uint64_t>(bytes, 64);
  handle.lane_id = bytes.substr(kLaneAt, lane_bytes);
  const bool known_kind = bytes[1] >= 1 && bytes[1] <= 3;
  if (!known_kind || core::check_lane(handle.lane_id) || handle.execution_id.partition >= partitions_)
    return refuse("malformed");
  return handle;
}

}  // namespace ff::engine
