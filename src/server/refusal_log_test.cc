#include "server/refusal_log.h"

#include <gmock/gmock.h>

namespace ff::server {
namespace {

TEST(ServerRefusals, so_many_per_second_then_a_count) {
  std::vector<std::string> lines;
  RefusalLog log(Log([&](LogLevel, std::string_view message, std::span<const LogField> fields) {
    std::string line(message);
    for (const auto& field : fields) line += fmt::format(" {}={}", field.name, field.value);
    lines.push_back(line);
  }));
  Request request;
  request.remote = "10.0.0.1";
  request.headers = {{"Authorization", "Bearer s3cret"}};
  for (int i = 0; i < 150; ++i) log.refused(request, "r", 1'000 + i);
  ASSERT_EQ(lines.size(), RefusalLog::kPerSecond);
  EXPECT_EQ(lines[0], "a request without a valid token target=audit request_id=r remote=10.0.0.1");
  log.refused(request, "r", 2'000);
  ASSERT_EQ(lines.size(), RefusalLog::kPerSecond + 2);
  EXPECT_EQ(lines[100], "further requests without a valid token target=audit count=50");
}

}  // namespace
}  // namespace ff::server
