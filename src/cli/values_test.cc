#include "cli/values.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace ff::cli {
namespace {

TEST(CliValues, durations) {
  EXPECT_EQ(parse_duration_ms("0").value(), 0U);
  EXPECT_EQ(parse_duration_ms("250ms").value(), 250U);
  EXPECT_EQ(parse_duration_ms("5s").value(), 5'000U);
  EXPECT_EQ(parse_duration_ms("1.5h").value(), 5'400'000U);
  EXPECT_EQ(parse_duration_ms("1h30m").value(), 5'400'000U);
  EXPECT_EQ(parse_duration_ms("2d").value(), 172'800'000U);
  EXPECT_EQ(parse_duration_ms("0.5ms").value(), 1U);
}

TEST(CliValues, what_is_no_duration) {
  for (const char* text : {"", "5", "s", "-5s", "5 s", "5x", "5s3", "1e3s", "nan", "99999999999d", "5S", "5sec"}) {
    auto parsed = parse_duration_ms(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_input);
    EXPECT_NE(parsed.error().message.find(std::string("'") + text + "'"), std::string::npos);
  }
}

TEST(CliValues, times) {
  const TimeMs now = 1'700'000'000'000;
  EXPECT_EQ(parse_time("10m", now, Side::past).value(), now - 600'000);
  EXPECT_EQ(parse_time("10m", now, Side::future).value(), now + 600'000);
  EXPECT_EQ(parse_time("1763287200000", now, Side::past).value(), 1'763'287'200'000);
  EXPECT_EQ(parse_time("2025-11-16T10:00:00Z", now, Side::past).value(), 1'763'287'200'000);
  EXPECT_EQ(parse_time("2025-11-16 10:00", now, Side::past).value(), 1'763'287'200'000);
  EXPECT_EQ(parse_time("2025-11-16T12:00:00.250+02:00", now, Side::past).value(), 1'763'287'200'250);
  EXPECT_EQ(parse_time("2025-11-16T05:30:00-0430", now, Side::past).value(), 1'763'287'200'000);
  EXPECT_EQ(parse_time("2025-11-16", now, Side::past).value(), 1'763'251'200'000);
  EXPECT_EQ(parse_time("1969-12-31T23:59:59Z", now, Side::past).value(), -1'000);
}

TEST(CliValues, what_is_no_time) {
  for (const char* text : {"", "yesterday", "2025-13-01", "2025-02-30", "2025-11-16T25:00", "2025-11-16T10:00:00X",
                           "2025-11-16T10:00:00+25:00", "2025-11-16T10", "20251116", "99999999999999999999"})
    EXPECT_FALSE(parse_time(text, 0, Side::past)) << text;
}

TEST(CliValues, tags) {
  EXPECT_EQ(parse_tag("a=b").value(), std::pair(std::string("a"), std::string("b")));
  EXPECT_EQ(parse_tag("a=").value().second, "");
  EXPECT_EQ(parse_tag("a=b=c").value().second, "b=c");
  EXPECT_FALSE(parse_tag("a"));
  EXPECT_FALSE(parse_tag("=b"));
  EXPECT_EQ(parse_tag_change("a=b").value().second, "b");
  EXPECT_EQ(parse_tag_change("a-b=c-").value().first, "a-b");
  auto removal = parse_tag_change("a-b-");
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->first, "a-b");
  EXPECT_FALSE(removal->second);
  EXPECT_FALSE(parse_tag_change("-"));
  EXPECT_FALSE(parse_tag_change("a"));
}

TEST(CliValues, bytes_come_from_text_or_file) {
  EXPECT_EQ(read_bytes("text").value(), "text");
  EXPECT_EQ(read_bytes("").value(), "");
  const auto path = std::filesystem::temp_directory_path() / ("ff-values-" + std::to_string(getpid()));
  const std::string bytes("\x00\xff\n\r", 4);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(read_bytes("@" + path.string()).value(), bytes);
  std::filesystem::remove(path);
  EXPECT_FALSE(read_bytes("@" + path.string()));
}

}  // namespace
}  // namespace ff::cli
