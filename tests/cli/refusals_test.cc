// What is typed wrongly, and stores that cannot be used, are answered with a sentence.

#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <sqlite3.h>

namespace ff::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Refusal {
  std::vector<std::string> words;
  int code = 2;
  std::string says;
};

void expect_refusals(const Sandbox& box, const std::vector<Refusal>& refusals) {
  for (const auto& [words, code, says] : refusals) {
    const Ended ended = box.ff(words);
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, StartsWith("ff: "));
    EXPECT_THAT(ended.err, HasSubstr(says));
    EXPECT_THAT(ended.err, EndsWith(".\n")) << "an error is a whole sentence";
  }
}

TEST(CliRefusals, words_that_are_wrong) {
  Sandbox box;
  const std::string id = box.submit({"k"});
  expect_refusals(box, {
                           {{"submit"}, 2, "KIND is required"},
                           {{"submit", ""}, 2, "1 to 256 bytes"},
                           {{"submit", "k", "extra"}, 2, "extra"},
                           {{"submit", "k", "--priority", "high"}, 2, "--priority"},
                           {{"submit", "k", "--delay", "soon"}, 2, "2025-11-16T10:00:00Z"},
                           {{"submit", "k", "--wait", "5"}, 2, "250ms"},
                           {{"submit", "k", "--payload", "@nothing"}, 2, "The file 'nothing' cannot be read"},
                           {{"submit", "k", "--tag", "x"}, 2, "key=value"},
                           {{"submit", "k", "--policy", "{"}, 2, "malformed"},
                           {{"submit", "k", "--id", id, "--key", "y"}, 2, "not both"},
                           {{"submit", "k", "--lane", std::string(65, 'x')}, 2, "64"},
                           {{"submit", "k", "--", "x"}, 2, "`ff worker exec`"},
                           {{"get"}, 2, "ID is required"},
                           {{"get", "17"}, 2, "An execution id looks like"},
                           {{"get", id, "--nope"}, 2, "--nope"},
                           {{"list", "--limit", "-1"}, 2, "--limit"},
                           {{"list", "--state", "done"}, 2, "waiting, delayed"},
                           {{"list", "--created-after", "yesterday"}, 2, "10m"},
                           {{"list", "--blocking-reason", "tired"}, 2, "tired"},
                           {{"leases", "--limit", "-1"}, 2, "--limit"},
                           {{"replay"}, 2, "Name the executions to replay"},
                           {{"tag", id}, 2, "required"},
                           {{"priority", id}, 2, "required"},
                           {{"lanes", "pause"}, 2, "LANE is required"},
                           {{"check", "--findings", "many"}, 2, "--findings"},
                       });
  EXPECT_EQ(lines_of(box.ff({"list"}).out).size(), 2U) << "nothing was submitted by what was refused";
}

TEST(CliRefusals, a_payload_over_the_limit) {
  Sandbox box;
  box.write("large", std::string((1 << 20) + 1, 'x'));
  box.write("largest", std::string(1 << 20, 'x'));
  expect_refusals(box, {{{"submit", "k", "--payload", "@large"}, 2, "1048576"}});
  EXPECT_EQ(box.ff({"submit", "k", "--payload", "@largest"}).code, 0);
}

TEST(CliRefusals, stores_that_cannot_be_used) {
  Sandbox box;
  std::filesystem::create_directory(box.path("folder"));
  box.write("garbage.db", std::string(4096, 'g'));
  sqlite3* foreign = nullptr;
  ASSERT_EQ(sqlite3_open(box.path("foreign.db").c_str(), &foreign), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(foreign, "CREATE TABLE t (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(foreign);
  expect_refusals(box, {
                           {{"list", "--store", "nonsense"}, 2, "Write sqlite:<path>"},
                           {{"list", "--store", "sqlite:"}, 2, "names no file"},
                           {{"list", "--store", "sqlite:missing.db"}, 4, "There is no database 'missing.db'"},
                           {{"check", "--store", "sqlite:missing.db"}, 4, "There is no database 'missing.db'"},
                           {{"submit", "k", "--store", "sqlite:no/such/x.db"}, 4, "does not exist. Create it first"},
                           {{"submit", "k", "--store", "sqlite:folder"}, 4, "is a folder"},
                           {{"submit", "k", "--store", "sqlite:garbage.db"}, 4, "not a usable SQLite database"},
                           {{"list", "--store", "sqlite:foreign.db"}, 4, "holds no FlowFabric data"},
                       });
  EXPECT_EQ(box.read("garbage.db"), std::string(4096, 'g')) << "a foreign file is left as it was";
  EXPECT_FALSE(std::filesystem::exists(box.path("missing.db")));
}

TEST(CliRefusals, with_json_an_error_is_an_object_on_standard_error) {
  Sandbox box;
  box.submit({"k"});
  const Ended missing = box.ff({"--json", "get", "{fp:7}:550e8400-e29b-41d4-a716-446655440000"});
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(missing.out, "");
  const auto error = boost::json::parse(missing.err).at("error");
  EXPECT_EQ(error.at("code"), "execution_not_found");
  EXPECT_EQ(error.at("retryable"), false);
  const Ended usage = box.ff({"--json", "list", "--limit", "x"});
  EXPECT_EQ(usage.code, 2);
  EXPECT_EQ(boost::json::parse(usage.err).at("error").at("code"), "invalid_input");
}

}  // namespace
}  // namespace ff::test
