#include "core/capabilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using Tokens = std::vector<std::string>;

std::string fault(Tokens tokens, std::string_view side = "required") {
  auto normal = normalize_capabilities(side, std::move(tokens));
  if (normal) return "";
  EXPECT_EQ(normal.error().code, ErrorCode::invalid_capabilities);
  return std::string(normal.error().context.text("detail"));
}

Tokens distinct(std::size_t count) {
  Tokens tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back("t" + std::to_string(i));
  return tokens;
}

TEST(Domain, T28_sets_are_byte_sorted_without_repeats) {
  EXPECT_EQ(*normalize_capabilities("required", {"gpu", "cuda", "gpu", "Zeta"}), (Tokens{"Zeta", "cuda", "gpu"}));
  EXPECT_EQ(*normalize_capabilities("required", {}), Tokens{});
}

TEST(Domain, T28_tokens_other_than_ascii_are_welcome) {
  EXPECT_EQ(fault({"东京-gpu"}), "");
  EXPECT_EQ(fault({"gpu=a100;mem=80"}), "");
  EXPECT_EQ(fault({"\xf0\x9f\x9a\x80"}), "");
}

TEST(Domain, T28_each_bad_token_has_its_detail) {
  EXPECT_EQ(fault({""}), "required:empty_token");
  EXPECT_EQ(fault({"a,b"}), "required:comma_in_token");
  EXPECT_EQ(fault({"a b"}), "required:control_or_whitespace");
  EXPECT_EQ(fault({"a\n"}), "required:control_or_whitespace");
  EXPECT_EQ(fault({std::string("a\0b", 3)}), "required:control_or_whitespace");
  EXPECT_EQ(fault({"a\x7f"}), "required:control_or_whitespace");
  EXPECT_EQ(fault({"a\xc2\x85"}), "required:control_or_whitespace") << "U+0085, next line";
  EXPECT_EQ(fault({"a\xc2\xa0"}), "required:control_or_whitespace") << "U+00A0, no-break space";
  EXPECT_EQ(fault({"a\xe2\x80\x83"}), "required:control_or_whitespace") << "U+2003, em space";
  EXPECT_EQ(fault({"a\xe3\x80\x80"}), "required:control_or_whitespace") << "U+3000, ideographic space";
  EXPECT_EQ(fault({"a\xff"}), "required:control_or_whitespace") << "not UTF-8";
  EXPECT_EQ(fault({"a\xe4\xb8"}), "required:control_or_whitespace") << "cut short";
  EXPECT_EQ(fault({"ok", ""}, "worker"), "worker:empty_token");
  EXPECT_EQ(fault({"", "a,b"}), "required:empty_token") << "the first bad token decides";
  EXPECT_EQ(fault({", "}), "required:comma_in_token") << "the comma is looked at before white space";
}

TEST(Domain, T28_the_limits_are_inclusive) {
  EXPECT_EQ(fault(distinct(256)), "");
  EXPECT_EQ(fault(distinct(257)), "required:too_many_tokens");
  Tokens repeated = distinct(256);
  repeated.push_back("t0");
  EXPECT_EQ(fault(repeated), "") << "repeats do not count";

  EXPECT_EQ(fault({std::string(4096, 'a')}), "");
  EXPECT_EQ(fault({std::string(4097, 'a')}), "required:too_many_bytes");
  EXPECT_EQ(fault({std::string(2047, 'a'), std::string(2048, 'b')}), "") << "4096 with the comma between them";
  EXPECT_EQ(fault({std::string(2048, 'a'), std::string(2048, 'b')}), "required:too_many_bytes");
  EXPECT_EQ(fault({std::string(4097, 'a')}, "worker"), "worker:too_many_bytes");
}

}  // namespace
}  // namespace ff::core
