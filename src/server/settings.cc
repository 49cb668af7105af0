#include "server/settings.h"

#include "server/address.h"
#include "server/setting_table.h"
#include "server/settings_file.h"

#include <numeric>

namespace ff::server {
namespace {

/// Variables with our prefix that are not settings of a server.
constexpr std::string_view kOtherVariables[] = {"FF_CONFIG",  "FF_TOKEN", "FF_TOKEN_FILE", "FF_EXECUTION_ID",
                                                "FF_ATTEMPT", "FF_KIND",  "FF_LANE",       "FF_CONTENT_TYPE"};
constexpr std::string_view kFileEnding = "_file";

struct Given {
  std::string value;
  std::string place;
};

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)}));
  }
  return row[b.size()];
}

std::string upper(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return name;
}
std::string lower(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}
std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

/// A setting, or the name of the file that holds a secret one.
bool is_known(std::string_view name) {
  if (find_setting(name)) return true;
  if (!name.ends_with(kFileEnding)) return false;
  const Setting* plain = find_setting(name.substr(0, name.size() - kFileEnding.size()));
  return plain && plain->is_secret;
}

/// What may be shown of a value: nothing of a secret, no password of a URL.
std::string shown(const Setting& setting, std::string value) {
  if (setting.is_secret) return "***";
  const std::size_t slashes = value.find("://");
  const std::size_t at = value.rfind('@');
  if (setting.name == "store" && slashes != value.npos && at != value.npos && slashes < at)
    value.replace(slashes + 3, at - slashes - 3, "***");
  return value;
}

bool has_password(const std::string& url) {
  const std::size_t slashes = url.find("://"), at = url.rfind('@');
  if (slashes == url.npos || at == url.npos || at < slashes) return false;
  return url.substr(slashes + 3, at - slashes - 3).find(':') != url.npos;
}

class Loader {
 public:
  explicit Loader(const SettingSources& sources) : sources_(sources) {}

  std::expected<LoadedSettings, std::vector<std::string>> load() {
    read_flags();
    read_environment();
    read_file();
    for (auto& [name, given] : given_) apply(name, given);
    check_together();
    if (!faults_.empty()) return std::unexpected(std::move(faults_));
    return std::move(loaded_);
  }

 private:
  /// The first place that has it wins.
  void take(const std::string& name, std::string value, std::string place) {
    given_.try_emplace(name, Given{std::move(value), std::move(place)});
  }

  void read_flags() {
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < sources_.flags.size(); ++i) {
      const std::string& flag = sources_.flags[i];
      if (!flag.starts_with("--")) {
        faults_.push_back(fmt::format("'{}' is no setting; settings are given as --name value.", flag));
        continue;
      }
      const std::size_t equals = flag.find('=');
      std::string name = flag.substr(2, equals == flag.npos ? flag.npos : equals - 2);
      std::replace(name.begin(), name.end(), '-', '_');
      if (name == "check" && equals == flag.npos) {
        loaded_.check = true;
        continue;
      }
      const Setting* setting = find_setting(name);
      if (name != "config" && !is_known(name)) {
        faults_.push_back(fmt::format("There is no flag {}. Did you mean {}?", flag.substr(0, equals),
                                      flag_of(nearest_setting(name))));
        // Its value is not a setting of its own.
        if (equals == flag.npos && i + 1 < sources_.flags.size() && !sources_.flags[i + 1].starts_with("--")) ++i;
        continue;
      }
      if (++seen[name] == 2) faults_.push_back(fmt::format("{} is given twice; give it once.", flag_of(name)));
      const bool next_is_value = i + 1 < sources_.flags.size() && !sources_.flags[i + 1].starts_with("--");
      std::string value;
      if (equals != flag.npos) {
        value = flag.substr(equals + 1);
      } else if (next_is_value) {
        value = sources_.flags[++i];
      } else if (setting && setting->is_switch) {
        value = "true";
      } else {
        faults_.push_back(fmt::format("{} needs a value.", flag_of(name)));
        continue;
      }
      if (name == "config")
        config_ = value;
      else
        take(name, std::move(value), flag_of(name));
    }
  }

  void read_environment() {
    for (const auto& [variable, value] : sources_.environment) {
      if (!variable.starts_with("FF_")) continue;
      if (variable == "FF_CONFIG" && !config_) config_ = value;
      if (std::find(std::begin(kOtherVariables), std::end(kOtherVariables), variable) != std::end(kOtherVariables))
        continue;
      const std::string name = lower(variable.substr(3));
      if (upper(name) != variable.substr(3) || !is_known(name))
        faults_.push_back(fmt::format("There is no setting for the variable {}. Did you mean FF_{}?", variable,
                                      upper(nearest_setting(name))));
      else
        take(name, value, variable);
    }
  }

  void read_file() {
    if (!config_) return;
    auto text = sources_.read_file(*config_);
    auto entries = text ? read_settings_file(*config_, *text) : Result<FileSettings>(std::unexpected(text.error()));
    if (!entries) {
      faults_.push_back(fmt::format("The settings file {} cannot be read: {}", *config_, entries.error().message));
      return;
    }
    std::map<std::string, int> seen;
    for (auto& [name, value] : *entries) {
      if (!is_known(name))
        faults_.push_back(
            fmt::format("There is no setting '{}' ({}). Did you mean '{}'?", name, *config_, nearest_setting(name)));
      else if (++seen[name] == 2)
        faults_.push_back(fmt::format("'{}' stands twice in {}; give it once.", name, *config_));
      else
        take(name, std::move(value), *config_);
    }
  }

  void apply(const std::string& name, Given& given) {
    const Setting* setting = find_setting(name);
    if (!setting) {
      const std::string plain = name.substr(0, name.size() - kFileEnding.size());
      if (given_.contains(plain)) {
        faults_.push_back(fmt::format("{} and {} are both given; give one of them.", plain, name));
        return;
      }
      auto text = sources_.read_file(given.value);
      if (!text) {
        faults_.push_back(fmt::format("{} ({}): the file {} cannot be read: {}", name, given.place, given.value,
                                      text.error().message));
        return;
      }
      while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
      given.value = std::move(*text);
      setting = find_setting(plain);
    }
    if (!setting->set(loaded_.settings, given.value)) {
      faults_.push_back(fmt::format("{} ({}) is '{}', but {}.", name, given.place,
                                    shown(*setting, given.value), setting->rule));
      return;
    }
    loaded_.places[setting->name] = given.place;
  }

  void check_together() {
    const Settings& s = loaded_.settings;
    if (s.tls_cert.has_value() != s.tls_key.has_value())
      faults_.emplace_back("tls_cert and tls_key belong together; give both or none.");
    if (s.tls_client_ca && !s.tls_cert) faults_.emplace_back("tls_client_ca needs tls_cert and tls_key.");
    if (s.store_password && has_password(s.store))
      faults_.emplace_back("store_password is given, and the store URL has a password too; give one of them.");
    if (s.executors >= s.store_connections)
      faults_.push_back(fmt::format("store_connections is {}, but has to be more than executors ({}).",
                                    s.store_connections, s.executors));
  }

  const SettingSources& sources_;
  std::optional<std::string> config_;
  std::map<std::string, Given> given_;
  LoadedSettings loaded_;
  std::vector<std::string> faults_;
};

}  // namespace

std::string nearest_setting(std::string_view name) {
  std::string nearest = "store";
  std::size_t best = SIZE_MAX;
  for (const Setting& setting : setting_table())
    if (const std::size_t far = distance(name, setting.name); far < best) {
      best = far;
      nearest = setting.name;
    }
  return nearest;
}

std::expected<LoadedSettings, std::vector<std::string>> load_settings(const SettingSources& sources) {
  return Loader(sources).load();
}

std::string settings_text(const LoadedSettings& loaded) {
  std::string text;
  for (const Setting& setting : setting_table()) {
    auto place = loaded.places.find(setting.name);
    const bool given = place != loaded.places.end();
    text += fmt::format("{} = {}  ({}{})\n", setting.name,
                        given ? shown(setting, setting.show(loaded.settings)) : setting.show(loaded.settings),
                        given ? place->second : "default", setting.is_without_effect ? "; no effect in this version" : "");
  }
  return text;
}

std::string shown_store(const Settings& settings) { return shown(*find_setting("store"), settings.store); }

bool listens_to_others(const Settings& settings) {
  const bool beyond = !std::all_of(settings.listen.begin(), settings.listen.end(), is_local_address);
  return beyond || (settings.admin_listen && !is_local_address(*settings.admin_listen));
}

OpenOptions open_options(const Settings& s) {
  OpenOptions options;
  options.flow_partitions = static_cast<std::uint16_t>(s.flow_partitions);
  options.budget_partitions = static_cast<std::uint16_t>(s.budget_partitions);
  options.quota_partitions = static_cast<std::uint16_t>(s.quota_partitions);
  options.lane_spread = static_cast<std::uint16_t>(s.lane_spread);
  options.namespace_ = s.namespace_;
  options.lanes = s.lanes;
  options.lease_ttl_ms = s.lease_ttl_ms;
  options.lease_loss_policy = s.lease_loss_policy;
  options.max_reclaim_count = s.max_reclaim_count;
  options.default_max_retries = s.default_max_retries;
  options.retention_ms = s.retention_ms;
  options.event_retention_ms = s.event_retention_ms;
  options.audit_retention_ms = s.audit_retention_ms;
  options.payload_bytes_max = s.payload_bytes_max;
  options.renewal_events = s.renewal_events;
  options.sweeps = s.sweeps;
  options.sweep_interval_ms = s.sweep_interval_ms;
  options.scanner_namespace = s.scanner_namespace;
  if (s.scanner_instance_tag) {
    const std::size_t equals = s.scanner_instance_tag->find('=');
    options.scanner_instance_tag.emplace(s.scanner_instance_tag->substr(0, equals),
                                         s.scanner_instance_tag->substr(equals + 1));
  }
  options.executors = s.executors;
  options.batch_max = s.batch_max;
  options.queue_max = s.queue_max;
  options.waiters_max = s.waiters_max;
  options.poll_interval_ms = s.poll_interval_ms;
  options.store_request_timeout_ms = s.store_request_timeout_ms;
  options.auto_migrate = s.auto_migrate;
  options.allow_unsafe_store = s.allow_unsafe_store;
  return options;
}

Limits limits_of(const Settings& s) { return {s.body_max_bytes, s.header_max_bytes, s.request_timeout_ms}; }

}  // namespace ff::server
