#include "log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff {
namespace {

using ::testing::ElementsAre;

TEST(LogTest, a_sink_gets_every_record_with_its_fields) {
  std::vector<std::string> lines;
  const Log log([&](LogLevel level, std::string_view message, std::span<const LogField> fields) {
    std::string line = fmt::format("{} {}", static_cast<int>(level), message);
    for (const auto& field : fields) line += fmt::format(" {}={}", field.name, field.value);
    lines.push_back(line);
  });
  log.write(LogLevel::debug, "detail");
  log.info("sweep run", {{"sweep", "lease_expiry"}, {"processed", "3"}});
  log.warn("slow");
  log.error("broken", {{"error", "corruption: x"}});
  EXPECT_THAT(lines, ElementsAre("1 detail", "2 sweep run sweep=lease_expiry processed=3", "3 slow",
                                 "4 broken error=corruption: x"));
}

TEST(LogTest, without_a_sink_warnings_and_errors_go_to_standard_error) {
  const Log log(nullptr);
  testing::internal::CaptureStderr();
  log.write(LogLevel::trace, "unheard");
  log.info("unheard");
  log.warn("slow", {{"ms", "7"}});
  log.error("broken");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "flowfabric warning: slow ms=7\nflowfabric error: broken\n");
}

TEST(LogTest, with_a_sink_standard_error_stays_silent) {
  const Log log([](LogLevel, std::string_view, std::span<const LogField>) {});
  testing::internal::CaptureStderr();
  log.error("broken");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace ff
