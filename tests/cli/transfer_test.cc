// A data set that moves to another store by `ff export` and `ff import`.

#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace ff::test {
namespace {

using testing::HasSubstr;

TEST(CliTransfer, a_data_set_moves_through_a_file) {
  Sandbox box;
  const std::string waits = box.submit({"k", "--payload", "{\"n\":1}", "--tag", "a=b"});
  const std::string gone = box.submit({"k"});
  ASSERT_EQ(box.ff({"cancel", gone}).code, 0);
  const Ended exported = box.ff({"export", "--out", "all.jsonl"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("Exported 2 executions"));
  EXPECT_EQ(std::filesystem::status(box.path("all.jsonl")).permissions() & std::filesystem::perms(0077),
            std::filesystem::perms::none)
      << "it holds the key of the handles";
  EXPECT_EQ(box.ff({"export", "--out", "all.jsonl"}).code, 2) << "an old file is not overwritten";

  const Ended imported = box.ff({"import", "--store", "sqlite:new.db", "--in", "all.jsonl"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("Imported 2 executions"));
  for (const auto& words : {std::vector<std::string>{"get", waits}, {"get", gone}, {"payload", waits}, {"attempts", gone}})
    EXPECT_EQ(box.ff(words).code, 0);
  EXPECT_EQ(box.ff({"check", "--store", "sqlite:new.db"}).code, 0);
  EXPECT_EQ(box.ff({"payload", waits, "--store", "sqlite:new.db"}).out, box.ff({"payload", waits}).out);

  const Ended again = box.ff({"import", "--store", "sqlite:new.db", "--in", "all.jsonl"});
  EXPECT_EQ(again.code, 4) << again.out;
  EXPECT_THAT(again.err, HasSubstr("holds a data set already"));
}

TEST(CliTransfer, a_pipe_does_too) {
  Sandbox box;
  box.submit({"k"});
  const Ended exported = box.ff({"export"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const Ended imported = box.ff({"import", "--store", "sqlite:new.db"}, exported.out);
  EXPECT_EQ(imported.code, 0) << imported.err;
}

TEST(CliTransfer, a_cut_file_touches_no_store_and_a_cut_pipe_closes_it) {
  Sandbox box;
  box.submit({"k"});
  const std::string whole = box.ff({"export"}).out;
  const std::string half = whole.substr(0, whole.rfind("{\"end\""));
  box.write("half.jsonl", half);
  const Ended from_file = box.ff({"import", "--store", "sqlite:a.db", "--in", "half.jsonl"});
  EXPECT_EQ(from_file.code, 2);
  EXPECT_THAT(from_file.err, HasSubstr("cut off"));
  EXPECT_FALSE(std::filesystem::exists(box.path("a.db")));

  EXPECT_EQ(box.ff({"import", "--store", "sqlite:b.db"}, half).code, 2);
  const Ended used = box.ff({"list", "--store", "sqlite:b.db"});
  EXPECT_EQ(used.code, 4);
  EXPECT_THAT(used.err, HasSubstr("ff import"));
}

TEST(CliTransfer, work_under_way_is_not_exported) {
  Sandbox box;
  Process worker = box.start({"worker", "exec", "--kind", "k", "--quiet", "--", "sleep", "1000"});
  const std::string id = box.submit({"k"});
  box.wait_for_state(id, "active");
  const Ended refused = box.ff({"export", "--out", "all.jsonl"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr(id));
  EXPECT_FALSE(std::filesystem::exists(box.path("all.jsonl")));
}

}  // namespace
}  // namespace ff::test
