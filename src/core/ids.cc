#include "core/ids.h"

#include "core/errors.h"
#include "core/hash.h"

#include <charconv>

namespace ff {
namespace {

constexpr char kHex[] = "0123456789abcdef";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// A decimal u16 without sign and without leading zeros.
std::optional<std::uint16_t> parse_index(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > 65535 || text[0] == '-' || text[0] == '+')
    return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

}  // namespace

std::string Uuid::to_string() const {
  std::string text(36, '-');
  std::size_t at = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;
    text[at++] = kHex[bytes[i] >> 4];
    text[at++] = kHex[bytes[i] & 15];
  }
  return text;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid uuid;
  std::size_t at = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      if (text[at++] != '-') return std::nullopt;
    const int high = hex_digit(text[at]), low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    uuid.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
    at += 2;
  }
  return uuid;
}

std::string ExecutionId::to_string() const { return fmt::format("{{fp:{}}}:{}", partition, uuid.to_string()); }

Result<ExecutionId> ExecutionId::parse(std::string_view text) {
  auto refuse = [&](std::string_view reason) {
    return std::unexpected(core::invalid_input(
        "execution_id", reason,
        fmt::format("'{:.80}' is not an execution id ({}). An execution id looks like "
                    "{{fp:7}}:550e8400-e29b-41d4-a716-446655440000.",
                    text, reason)));
  };
  const auto close = text.find("}:");
  if (!text.starts_with("{fp:") || close == std::string_view::npos) return refuse("missing_tag");
  const auto index = parse_index(text.substr(4, close - 4));
  if (!index) return refuse("invalid_partition_index");
  const auto uuid = Uuid::parse(text.substr(close + 2));
  if (!uuid) return refuse("invalid_uuid");
  return ExecutionId{*index, *uuid};
}

namespace core {

std::string_view raw_bytes(const Uuid& uuid) { return {reinterpret_cast<const char*>(uuid.bytes.data()), 16}; }

std::uint16_t solo_partition(std::string_view lane_id, const Uuid& uuid, const Partitioning& partitioning) {
  const auto spread = fnv1a64(raw_bytes(uuid)) % partitioning.lane_spread;
  return static_cast<std::uint16_t>((crc16(lane_id) + spread) % partitioning.num_flow_partitions);
}

std::uint16_t keyed_partition(std::string_view namespace_, std::string_view key, const Partitioning& partitioning) {
  const std::uint16_t crc = crc16(key, crc16(std::string_view("\0", 1), crc16(namespace_)));
  return static_cast<std::uint16_t>(crc % partitioning.num_flow_partitions);
}

std::uint16_t flow_partition(const Uuid& flow_id, const Partitioning& partitioning) {
  return static_cast<std::uint16_t>(crc16(raw_bytes(flow_id)) % partitioning.num_flow_partitions);
}

Uuid make_uuid7(TimeMs now_ms, std::uint64_t high, std::uint64_t low) {
  Uuid uuid;
  const auto time = static_cast<std::uint64_t>(now_ms);
  for (std::size_t i = 0; i < 6; ++i) uuid.bytes[i] = static_cast<std::uint8_t>(time >> (40 - 8 * i));
  uuid.bytes[6] = static_cast<std::uint8_t>(0x70 | ((high >> 8) & 0x0f));
  uuid.bytes[7] = static_cast<std::uint8_t>(high);
  for (std::size_t i = 0; i < 8; ++i) uuid.bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

Uuid IdSource::next(TimeMs now_ms) {
  // splitmix64 over the seed: consecutive ids are unrelated, and the sequence is a function of the seed alone.
  auto mix = [](std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  };
  const std::uint64_t high = mix(high_);
  return make_uuid7(now_ms, high, mix(low_) ^ (high << 1));
}

std::string to_string(const PartitionKey& key) {
  constexpr std::string_view kPrefix[] = {"fp", "b", "q"};
  return fmt::format("{{{}:{}}}", kPrefix[static_cast<std::size_t>(key.family)], key.index);
}

Result<PartitionKey> parse_partition_key(std::string_view text) {
  auto refuse = [&](std::string_view reason) {
    return std::unexpected(invalid_input("partition_key", reason,
                                         fmt::format("'{:.80}' is not a partition key ({}). It looks like {{fp:7}}, "
                                                     "{{b:0}} or {{q:3}}.",
                                                     text, reason)));
  };
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return refuse("no_braces");
  const auto inner = text.substr(1, text.size() - 2);
  const auto colon = inner.find(':');
  if (colon == std::string_view::npos) return refuse("no_prefix_index");
  const auto prefix = inner.substr(0, colon);
  PartitionKey key;
  if (prefix == "fp")
    key.family = PartitionFamily::flow;
  else if (prefix == "b")
    key.family = PartitionFamily::budget;
  else if (prefix == "q")
    key.family = PartitionFamily::quota;
  else
    return refuse("unknown_prefix");
  const auto index = parse_index(inner.substr(colon + 1));
  if (!index) return refuse("invalid_index");
  key.index = *index;
  return key;
}

}  // namespace core
}  // namespace ff
