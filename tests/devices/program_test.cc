#include "millrace/devices/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/support/temp_folder.h"

namespace millrace::devices {
namespace {

using ::testing::HasSubstr;

TEST(ProgramTest, FileIsReadWholeAndNamedByItsPath) {
  testing::TempFolder folder;
  const std::string text(200'000, 'x');
  const std::string path = folder.write("model.mlir", std::as_bytes(std::span(text)));
  const Program program = Program::from_file(path).value();
  EXPECT_EQ(program.code(), text);
  EXPECT_EQ(program.name(), path);
}

TEST(ProgramTest, FilesThatCannotBeReadAreNamed) {
  testing::TempFolder folder;
  const std::string empty = folder.write("empty.mlir", {});
  const std::string missing = folder.file("missing.mlir");
  for (const auto& [path, code] :
       {std::pair(missing, ErrorCode::kNotFound), std::pair(empty, ErrorCode::kInvalidArgument),
        std::pair(folder.path(), ErrorCode::kInvalidArgument)}) {
    const Result<Program> program = Program::from_file(path);
    ASSERT_FALSE(program.has_value()) << path;
    EXPECT_EQ(program.error().code(), code) << path;
    EXPECT_THAT(program.error().message(), HasSubstr(path));
  }
}

TEST(ProgramTest, TextIsShared) {
  const Program program = Program::from_text("module {}", "mine");
  const Program copy = program;
  EXPECT_EQ(copy.code().data(), program.code().data());
  EXPECT_EQ(copy.name(), "mine");
}

}  // namespace
}  // namespace millrace::devices
