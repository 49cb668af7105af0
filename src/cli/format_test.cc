#include "cli/format.h"

#include "cli/output.h"
#include "cli/table.h"

#include <gtest/gtest.h>

namespace ff::cli {
namespace {

TEST(CliFormat, durations_have_two_units_at_most) {
  EXPECT_EQ(duration_text(0), "0ms");
  EXPECT_EQ(duration_text(999), "999ms");
  EXPECT_EQ(duration_text(4'250), "4.2s");
  EXPECT_EQ(duration_text(59'999), "59s");
  EXPECT_EQ(duration_text(310'000), "5m 10s");
  EXPECT_EQ(duration_text(7'380'000), "2h 3m");
  EXPECT_EQ(duration_text(7'200'000), "2h");
  EXPECT_EQ(duration_text(273'600'000), "3d 4h");
  EXPECT_EQ(duration_text(-1'000), "-1.0s");
}

TEST(CliFormat, times) {
  EXPECT_EQ(time_text(1'763'287'200'250), "2025-11-16 10:00:00.250Z");
  EXPECT_EQ(time_text(-1), "1969-12-31 23:59:59.999Z");
  EXPECT_EQ(relative_text(1'000, 6'000), "5.0s ago");
  EXPECT_EQ(relative_text(6'000, 1'000), "in 5.0s");
  EXPECT_EQ(relative_text(1, 1), "now");
}

TEST(CliFormat, numbers) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(999), "999");
  EXPECT_EQ(number_text(1'000), "1,000");
  EXPECT_EQ(number_text(1'234'567), "1,234,567");
  EXPECT_EQ(count_text({10'000, true}), "~10,000");
  EXPECT_EQ(bytes_text(1'023), "1023 B");
  EXPECT_EQ(bytes_text(1'536), "1.5 KiB");
  EXPECT_EQ(bytes_text(3 << 20), "3.0 MiB");
}

TEST(CliFormat, foreign_text_cannot_steer_a_terminal) {
  EXPECT_EQ(printable("a\x1b[31mb\nc"), "a [31mb c");
  EXPECT_EQ(printable("größer", 3), "gr…");
  EXPECT_EQ(printable("größer", 6), "größer");
  EXPECT_EQ(columns_of("größer"), 6U);
}

/// What a table or an error writes, through a file that is no terminal.
class Captured {
 public:
  Captured() : out_(std::tmpfile()), err_(std::tmpfile()), output(out_, err_) {}
  ~Captured() {
    std::fclose(out_);
    std::fclose(err_);
  }
  std::string out() { return content(out_); }
  std::string err() { return content(err_); }

 private:
  static std::string content(std::FILE* file) {
    std::rewind(file);
    std::string text(4'096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    return text;
  }
  std::FILE* out_;
  std::FILE* err_;

 public:
  Output output;
};

TEST(CliFormat, columns_line_up_by_characters_not_bytes) {
  Captured captured;
  Table table({{"NAME"}, {"N", Table::Align::right}, {"LAST"}});
  table.add({"größer", "7", "x"});
  table.add({"a", "1,234", ""});
  table.print(captured.output);
  EXPECT_EQ(captured.out(),
            "NAME        N  LAST\n"
            "größer      7  x\n"
            "a       1,234  -\n");
}

TEST(CliFormat, facts_leave_out_what_is_empty) {
  Captured captured;
  Facts("Title").add("a", "1").add("longer", "2", Colour::red).add("empty", "").print(captured.output);
  Facts("Nothing").add("empty", "").print(captured.output);
  EXPECT_EQ(captured.out(), "Title\n  a       1\n  longer  2\n");
}

TEST(CliFormat, remarks_are_no_part_of_a_json_answer) {
  Captured captured;
  captured.output.set_json(true);
  captured.output.remark("by the way");
  captured.output.document(core::json::object{{"a", 1}});
  EXPECT_EQ(captured.out(), "{\"a\":1}\n");
  EXPECT_EQ(captured.err(), "");
}

}  // namespace
}  // namespace ff::cli
