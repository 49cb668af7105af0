#include "server/setting_table.h"

#include "core/fields.h"
#include "core/json.h"
#include "core/validate.h"
#include "server/address.h"

#include <charconv>

namespace ff::server {
namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr std::uint64_t kDay = 86'400'000;
constexpr std::uint64_t kNoBound = UINT32_MAX;

/// The sweeps whose interval can be set.
constexpr const char* kSweeps[] = {"delayed_promoter",  "lease_expiry",  "attempt_timeout", "execution_deadline",
                                   "retention_trimmer", "event_trimmer", "expired_records",
                                   "worker_registry_ttl_sweep"};

/// Settings of parts that this version does not have: they are read and checked, and whoever gives one is told.
constexpr std::string_view kWithoutEffect[] = {"event_shards",          "waitpoint_secret",  "waitpoint_kid",
                                               "waitpoint_grace_ms",    "store_connections", "store_connect_timeout_ms",
                                               "dispatch_claim_ttl_ms", "dashboard"};

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> size_number(std::string_view text) {
  std::uint64_t unit = 1;
  if (text.ends_with("KiB")) unit = kKiB;
  if (text.ends_with("MiB")) unit = kMiB;
  if (unit > 1) text.remove_suffix(3);
  while (unit > 1 && text.ends_with(' ')) text.remove_suffix(1);
  auto value = whole_number(text);
  return value && *value <= UINT64_MAX / unit ? std::optional(*value * unit) : std::nullopt;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; !text.empty() && from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    std::string part = text.substr(from, comma - from);
    while (part.starts_with(' ')) part.erase(0, 1);
    while (part.ends_with(' ')) part.pop_back();
    parts.push_back(std::move(part));
    from = comma + 1;
  }
  return parts;
}

template <class N>
Setting number(std::string name, N Settings::*member, std::uint64_t least, std::uint64_t most = kNoBound) {
  Setting setting{std::move(name), fmt::format("has to be an integer from {} to {}", least, most)};
  setting.set = [=](Settings& settings, const std::string& text) {
    auto value = whole_number(text);
    if (!value || *value < least || *value > most || !std::in_range<N>(*value)) return false;
    settings.*member = static_cast<N>(*value);
    return true;
  };
  setting.show = [=](const Settings& settings) { return std::to_string(settings.*member); };
  return setting;
}

Setting bytes(std::string name, std::uint64_t Settings::*member, std::uint64_t least, std::uint64_t most) {
  Setting setting{std::move(name),
                  fmt::format("has to be a size from {} to {} bytes, plain or with KiB or MiB", least, most)};
  setting.set = [=](Settings& settings, const std::string& text) {
    auto value = size_number(text);
    if (!value || *value < least || *value > most) return false;
    settings.*member = *value;
    return true;
  };
  setting.show = [=](const Settings& settings) { return std::to_string(settings.*member); };
  return setting;
}

Setting yes_no(std::string name, bool Settings::*member) {
  Setting setting{std::move(name), "has to be true, false, 1 or 0"};
  setting.is_switch = true;
  setting.set = [=](Settings& settings, const std::string& text) {
    const bool yes = text == "true" || text == "1";
    if (!yes && text != "false" && text != "0") return false;
    settings.*member = yes;
    return true;
  };
  setting.show = [=](const Settings& settings) { return settings.*member ? "true" : "false"; };
  return setting;
}

using Check = std::function<bool(const std::string&)>;

template <class Text>
Setting text(std::string name, Text Settings::*member, std::string rule, Check check) {
  Setting setting{std::move(name), std::move(rule)};
  setting.set = [=](Settings& settings, const std::string& value) {
    if (!check(value)) return false;
    settings.*member = value;
    return true;
  };
  setting.show = [=](const Settings& settings) {
    if constexpr (core::is_optional<Text>)
      return (settings.*member).value_or("-");
    else
      return settings.*member;
  };
  return setting;
}

Setting list(std::string name, std::vector<std::string> Settings::*member, std::string rule, bool may_be_empty,
             Check check) {
  Setting setting{std::move(name), std::move(rule)};
  setting.set = [=](Settings& settings, const std::string& value) {
    auto parts = split(value);
    if (parts.empty() && !may_be_empty) return false;
    if (!std::all_of(parts.begin(), parts.end(), check)) return false;
    settings.*member = std::move(parts);
    return true;
  };
  setting.show = [=](const Settings& settings) { return fmt::format("{}", fmt::join(settings.*member, ",")); };
  return setting;
}

Setting secret(Setting setting) {
  setting.is_secret = true;
  return setting;
}

Setting interval(const std::string& sweep) {
  Setting setting{sweep + "_interval_ms", "has to be an integer from 100 to 3600000"};
  setting.set = [=](Settings& settings, const std::string& text) {
    auto value = whole_number(text);
    if (!value || *value < 100 || *value > 3'600'000) return false;
    settings.sweep_interval_ms[sweep] = *value;
    return true;
  };
  setting.show = [=](const Settings& settings) {
    auto it = settings.sweep_interval_ms.find(sweep);
    return it == settings.sweep_interval_ms.end() ? "-" : std::to_string(it->second);
  };
  return setting;
}

Check one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& value) {
    return std::find(words.begin(), words.end(), value) != words.end();
  };
}

bool not_empty(const std::string& value) { return !value.empty(); }
bool is_name(const std::string& value) { return !core::check_name("namespace", value); }
bool is_lane(const std::string& value) { return !core::check_lane(value); }
bool is_hex_secret(const std::string& value) {
  return value.size() == 64 && value.find_first_not_of("0123456789abcdefABCDEF") == value.npos;
}
bool is_store(const std::string& value) {
  for (std::string_view scheme : {"sqlite:", "postgres://", "postgresql://", "valkey://", "redis://"})
    if (value.starts_with(scheme) && value.size() > scheme.size()) return true;
  return value == "memory:";
}
bool is_tag(const std::string& value) {
  const std::size_t equals = value.find('=');
  return equals != value.npos && !core::check_tag_key(value.substr(0, equals));
}

void add_places(std::vector<Setting>& all) {
  using S = Settings;
  all.push_back(text("store", &S::store,
                     "has to be a URL: sqlite:<path>, postgres://, valkey://, redis:// (without TLS) or memory:", is_store));
  all.push_back(secret(text("store_password", &S::store_password, "has to be a password", not_empty)));
  all.push_back(list("listen", &S::listen, "has to be host:port or unix:/path, several separated by commas", false,
                     is_address));
  all.push_back(text("admin_listen", &S::admin_listen, "has to be host:port or unix:/path", is_address));
  all.push_back(yes_no("insecure", &S::insecure));
  all.push_back(secret(text("api_token", &S::api_token, "has to be a token of printable characters", is_token)));
  all.push_back(text("tls_cert", &S::tls_cert, "has to be the path of a PEM file", not_empty));
  all.push_back(text("tls_key", &S::tls_key, "has to be the path of a PEM file", not_empty));
  all.push_back(text("tls_client_ca", &S::tls_client_ca, "has to be the path of a PEM file", not_empty));
  all.push_back(list("cors_origins", &S::cors_origins,
                     "has to be a list of origins such as https://app.example.com, or *", true, is_origin));
}

void add_data(std::vector<Setting>& all) {
  using S = Settings;
  all.push_back(text("namespace", &S::namespace_, "has to be 1 to 256 bytes without white space or braces", is_name));
  all.push_back(list("lanes", &S::lanes, "has to be a list of lanes of 1 to 64 printable characters", false, is_lane));
  all.push_back(number("flow_partitions", &S::flow_partitions, 1, 4096));
  all.push_back(number("budget_partitions", &S::budget_partitions, 1, 4096));
  all.push_back(number("quota_partitions", &S::quota_partitions, 1, 4096));
  all.push_back(number("event_shards", &S::event_shards, 1, 256));
  all.push_back(number("lane_spread", &S::lane_spread, 1, 256));
  all.push_back(secret(text("waitpoint_secret", &S::waitpoint_secret, "has to be 64 hex characters", is_hex_secret)));
  all.push_back(text("waitpoint_kid", &S::waitpoint_kid, "has to be 1 to 256 bytes without white space or braces", is_name));
  all.push_back(number("waitpoint_grace_ms", &S::waitpoint_grace_ms, 0, 365 * kDay));
}

void add_rules(std::vector<Setting>& all) {
  using S = Settings;
  all.push_back(number("lease_ttl_ms", &S::lease_ttl_ms, core::kLeaseTtlMsMin, core::kLeaseTtlMsMax));
  Setting policy{"lease_loss_policy", "has to be reclaim or retry"};
  policy.set = [](S& settings, const std::string& value) {
    auto parsed = core::enum_from<LeaseLossPolicy>(value);
    if (parsed) settings.lease_loss_policy = *parsed;
    return parsed.has_value();
  };
  policy.show = [](const S& settings) { return std::string(core::name_of(settings.lease_loss_policy)); };
  all.push_back(std::move(policy));
  all.push_back(number("max_reclaim_count", &S::max_reclaim_count, 0));
  all.push_back(number("default_max_retries", &S::default_max_retries, 0));
  all.push_back(yes_no("renewal_events", &S::renewal_events));
  constexpr std::uint64_t kForever = 36'500 * kDay;
  all.push_back(number("retention_ms", &S::retention_ms, 60'000, kForever));
  all.push_back(number("event_retention_ms", &S::event_retention_ms, 60'000, kForever));
  all.push_back(number("audit_retention_ms", &S::audit_retention_ms, 60'000, kForever));
  all.push_back(yes_no("sweeps", &S::sweeps));
  for (const char* sweep : kSweeps) all.push_back(interval(sweep));
  all.push_back(text("scanner_namespace", &S::scanner_namespace, "has to be 1 to 256 bytes without white space or braces",
                     is_name));
  all.push_back(text("scanner_instance_tag", &S::scanner_instance_tag, "has to be key=value", is_tag));
  all.push_back(number("poll_interval_ms", &S::poll_interval_ms, 0, 3'600'000));
  all.push_back(number("dispatch_claim_ttl_ms", &S::dispatch_claim_ttl_ms, 100, 3'600'000));
}

void add_machine(std::vector<Setting>& all) {
  using S = Settings;
  all.push_back(number("executors", &S::executors, 1, 64));
  all.push_back(number("batch_max", &S::batch_max, 1, 5'000));
  all.push_back(number("queue_max", &S::queue_max, 1, 10'000'000));
  all.push_back(number("store_connections", &S::store_connections, 2, 1'000));
  all.push_back(number("store_connect_timeout_ms", &S::store_connect_timeout_ms, 1, 3'600'000));
  all.push_back(number("store_request_timeout_ms", &S::store_request_timeout_ms, 1, 3'600'000));
  all.push_back(yes_no("auto_migrate", &S::auto_migrate));
  all.push_back(yes_no("allow_unsafe_store", &S::allow_unsafe_store));
  all.push_back(number("http_threads", &S::http_threads, 1, 64));
  all.push_back(bytes("body_max_bytes", &S::body_max_bytes, kKiB, 64 * kMiB));
  all.push_back(bytes("header_max_bytes", &S::header_max_bytes, kKiB, kMiB));
  all.push_back(bytes("payload_bytes_max", &S::payload_bytes_max, 1, 64 * kMiB));
  all.push_back(number("request_timeout_ms", &S::request_timeout_ms, 1, 3'600'000));
  all.push_back(number("header_timeout_ms", &S::header_timeout_ms, 1, 3'600'000));
  all.push_back(number("idle_timeout_ms", &S::idle_timeout_ms, 1, 3'600'000));
  all.push_back(number("connections_max", &S::connections_max, 1, 1'000'000));
  all.push_back(number("waiters_max", &S::waiters_max, 1, 1'000'000));
  all.push_back(number("rate_limit_per_token", &S::rate_limit_per_token, 0, 1'000'000));
  all.push_back(number("shutdown_grace_ms", &S::shutdown_grace_ms, 0, 3'600'000));
  all.push_back(yes_no("metrics", &S::metrics));
  all.push_back(yes_no("dashboard", &S::dashboard));
  all.push_back(text("log_level", &S::log_level, "has to be trace, debug, info, warn or error",
                     one_of({"trace", "debug", "info", "warn", "error"})));
  all.push_back(text("log_format", &S::log_format, "has to be text or json", one_of({"text", "json"})));
}

}  // namespace

const std::vector<Setting>& setting_table() {
  static const std::vector<Setting> table = [] {
    std::vector<Setting> all;
    add_places(all);
    add_data(all);
    add_rules(all);
    add_machine(all);
    for (Setting& setting : all)
      setting.is_without_effect =
          std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), setting.name) != std::end(kWithoutEffect);
    return all;
  }();
  return table;
}

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : setting_table())
    if (setting.name == name) return &setting;
  return nullptr;
}

}  // namespace ff::server
