#include "cli/blob.h"

#include <gtest/gtest.h>

namespace ff::cli {
namespace {

std::string shown(std::string bytes, std::string content_type) {
  return core::json::serialize(blob_value({std::move(bytes), std::move(content_type)}));
}

TEST(CliBlob, json_is_shown_as_itself_and_the_rest_as_base64) {
  EXPECT_EQ(shown(R"({"a": [1, 2]})", "application/json"), R"({"a":[1,2]})");
  EXPECT_EQ(shown("{", "application/json"), R"({"base64":"ew=="})");
  EXPECT_EQ(shown("", "text/plain"), R"({"base64":""})");
  EXPECT_EQ(shown("\xff\xef\xbe", "text/plain"), R"({"base64":"/+++"})");
  EXPECT_EQ(shown("ab", "text/plain"), R"({"base64":"YWI="})");
}

}  // namespace
}  // namespace ff::cli
