// The documents say what is so: every setting, every call and every figure stands there, and nothing else does.

#include "process/server_process.h"
#include "server/route_match.h"
#include "server/setting_table.h"

#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace ff::test {
namespace {

std::string document(const std::string& name) {
  std::ifstream file(std::string(FF_SOURCE_DIR) + "/docs/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What a pattern's first group finds.
std::set<std::string> found_in(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) found.insert((*it)[1]);
  return found;
}

TEST(ProcessDocuments, every_setting_stands_with_its_default_in_the_reference) {
  const std::string text = document("configuration.md");
  std::map<std::string, std::string> documented;
  static const std::regex kRow("\n\\| `([a-z_]+)` \\| `([^`]*)` \\|");
  for (std::sregex_iterator it(text.begin(), text.end(), kRow), end; it != end; ++it)
    EXPECT_TRUE(documented.emplace((*it)[1], (*it)[2]).second) << (*it)[1] << " stands twice";
  std::map<std::string, std::string> real;
  for (const server::Setting& setting : server::setting_table()) {
    const std::string value = setting.show(server::Settings{});
    real[setting.name] = value.empty() ? "-" : value;
    const std::size_t row = text.find("| `" + setting.name + "` |");
    ASSERT_NE(row, text.npos) << setting.name;
    const bool says_no_effect = text.substr(row, text.find('\n', row) - row).find("no effect in this version") != text.npos;
    EXPECT_EQ(says_no_effect, setting.is_without_effect) << setting.name;
  }
  EXPECT_EQ(documented, real);
}

TEST(ProcessDocuments, every_call_stands_in_the_reference) {
  const auto documented = found_in(document("http-api.md"), "\\| `((?:GET|PUT|POST|PATCH|DELETE) /[^` ?]*)");
  std::set<std::string> real;
  for (const server::Route& route : server::routes())
    real.insert(std::string(route.method) + " " + std::string(route.pattern));
  EXPECT_EQ(documented, real);
}

TEST(ProcessDocuments, every_figure_stands_in_the_guide) {
  Sandbox box;
  ServerProcess server(box);
  const auto real = found_in(server.get("/metrics").text, "# TYPE (ff_[a-z_]+) ");
  const auto documented = found_in(document("server.md"), "\n\\| `(ff_[a-z_]+)` \\|");
  EXPECT_EQ(documented, real);
  EXPECT_GT(real.size(), 20U);
}

}  // namespace
}  // namespace ff::test
