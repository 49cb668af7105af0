#include "log/line_log.h"

#include "log/log.h"

#include <gmock/gmock.h>

namespace ff {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LineLog : public testing::Test {
 protected:
  Log log(LogFormat format, LogLevel least = LogLevel::trace) {
    return Log(line_log({format, least, [] { return 1'700'000'000'123; }, [this](const std::string& line) { lines.push_back(line); }}));
  }
  std::vector<std::string> lines;
};

TEST_F(LineLog, lines_for_people) {
  const Log text = log(LogFormat::text);
  text.info("a sentence", {{"sweep", "lease_expiry"}, {"error", "two words"}, {"empty", ""}});
  text.write(LogLevel::debug, "a\nb", {{"x", "c\x1b[31m"}});
  EXPECT_THAT(lines, ElementsAre("2023-11-14 22:13:20.123 info  a sentence sweep=lease_expiry error=\"two words\" empty=\"\"",
                                 "2023-11-14 22:13:20.123 debug a b x=c [31m"));
}

TEST_F(LineLog, lines_for_programs) {
  log(LogFormat::json).error("said \"so\"", {{"error", "a\nb \xff"}});
  EXPECT_THAT(lines, ElementsAre("{\"ts\":\"2023-11-14T22:13:20.123Z\",\"level\":\"error\",\"message\":\"said \\\"so\\\"\","
                                 "\"error\":\"a\\nb \xef\xbf\xbd\"}"));
}

TEST_F(LineLog, what_is_below_the_level_is_left_out_but_for_the_audit) {
  const Log quiet = log(LogFormat::text, LogLevel::error);
  quiet.warn("unheard");
  quiet.info("a token was refused", {{"target", "audit"}});
  quiet.error("heard");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("a token was refused"));
  EXPECT_THAT(lines[1], HasSubstr("heard"));
}

TEST_F(LineLog, a_value_is_bounded) {
  log(LogFormat::json).info("m", {{"x", std::string(100'000, 'a')}});
  EXPECT_LT(lines[0].size(), 10'000U);
}

TEST_F(LineLog, standard_error_gets_whole_lines) {
  testing::internal::CaptureStderr();
  write_to_stderr("one");
  write_to_stderr("two");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "one\ntwo\n");
}

}  // namespace
}  // namespace ff
