#pragma once

// The table of settings: how each is read, checked and shown.

#include "server/settings.h"

namespace ff::server {

struct Setting {
  std::string name;
  std::string rule;  ///< "has to be ..."
  bool is_switch = false;
  bool is_secret = false;
  bool is_without_effect = false;  ///< read and checked, but no part of this version uses it
  std::function<bool(Settings&, const std::string&)> set;
  std::function<std::string(const Settings&)> show;
};

const std::vector<Setting>& setting_table();
/// By name; nullptr when there is none.
const Setting* find_setting(std::string_view name);

}  // namespace ff::server
