#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/cpu/compile/native_ops.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/support/paths.h"
#include "tests/support/sanitized.h"

namespace millrace::devices::stablehlo {
namespace {

namespace fs = std::filesystem;
using bytecode::read_bytecode;
using ::testing::HasSubstr;
using ::testing::StartsWith;

fs::path folder() {
  return fs::path(millrace::testing::source_folder()) / "tests" / "programs" / "bytecode";
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string artifact(const std::string& name) { return content(folder() / (name + ".mlir.bc")); }

std::string error_of(std::string_view bytes) {
  const auto module = read_bytecode(bytes);
  return module ? std::string() : module.error().message();
}

class Artifacts : public ::testing::TestWithParam<std::string> {};

TEST_P(Artifacts, ReadAsTheTextThatJaxMakesOfThem) {
  const auto module = read_bytecode(artifact(GetParam()));
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_TRUE(verify::verify(*module));
  const std::string name = GetParam().substr(0, GetParam().find('.'));
  const auto expected = text::read_text(content(folder() / (name + ".expected.mlir")));
  ASSERT_TRUE(expected) << expected.error().message();
  EXPECT_EQ(ir::print(*module), ir::print(*expected));
}

TEST_P(Artifacts, CutAnywhereAreAnErrorWithItsOffset) {
  const std::string bytes = artifact(GetParam());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string error = error_of(std::string_view(bytes).substr(0, size));
    ASSERT_THAT(error, StartsWith("byte ")) << "of " << size << " bytes";
  }
}

// What a changed byte means is not known, but a module of it prints and reads back. (The fuzzer
// changes all of them.)
TEST_P(Artifacts, WithAByteChangedAreAModuleOrAnError) {
  std::string bytes = artifact(GetParam());
  for (std::size_t i = 0; i < bytes.size(); i += millrace::testing::kSanitized ? 37 : 5) {
    const char before = bytes[i];
    for (const char change : {'\x01', '\x10', '\xff'}) {
      bytes[i] = static_cast<char>(before ^ change);
      const auto module = read_bytecode(bytes);
      if (!module) continue;
      (void)verify::verify(*module);
      const auto again = text::read_text(ir::print(*module));
      ASSERT_TRUE(again) << "byte " << i << ": " << again.error().message();
    }
    bytes[i] = before;
  }
}

INSTANTIATE_TEST_SUITE_P(ReadBytecode, Artifacts,
                         ::testing::Values("basic.0.9.0", "basic.0.10.0", "basic.0.12.0",
                                           "basic.0.14.0", "basic.1.0.0", "basic.1.17.0",
                                           "recent.1.9.0", "recent.1.17.0"));

TEST(ReadBytecode, OpsSayWhichByteTheyCameFrom) {
  const auto module = read_bytecode(artifact("recent.1.17.0"));
  ASSERT_TRUE(module);
  const ir::Op& first = *module->find("main")->body().block().front();
  EXPECT_THAT(first.where(), StartsWith("byte "));
  EXPECT_THAT(first.where(), HasSubstr(": stablehlo.constant"));
}

TEST(ReadBytecode, KnownCompositesBecomeTheirOps) {
  auto module = read_bytecode(artifact("recent.1.17.0"));
  ASSERT_TRUE(module);
  cpu::use_native_ops(*module);
  const std::string text = ir::print(*module);
  EXPECT_THAT(text, HasSubstr("\"chlo.erf\"(%arg0)"));
  EXPECT_THAT(text, HasSubstr("\"chlo.top_k\"(%arg0) {k = 3 : i64}"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("stablehlo.composite")));
  EXPECT_TRUE(verify::verify(*module));
}

TEST(ReadBytecode, OtherBytesSayWhatIsWrong) {
  EXPECT_EQ(error_of("module {}"), "byte 0: this is no MLIR bytecode");
  EXPECT_THAT(error_of(std::string("ML\xefR\x41", 5)), HasSubstr("newer than the 6"));
}

// A string for a number of the prefix form.
std::string number(std::uint64_t value) {
  std::string out(1, '\0');
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

std::string section(int id, const std::string& contents) {
  return static_cast<char>(id) + number(contents.size()) + contents;
}

// A file of one dialect and what the others hold.
std::string file_with(const std::string& dialect, const std::string& op, const std::string& offsets,
                      const std::string& entries, const std::string& operations) {
  const std::string texts = dialect + '\0' + op + '\0';
  const std::string strings =
      number(2) + number(op.size() + 1) + number(dialect.size() + 1) + texts;
  const std::string dialects =
      number(1) + number(0) + number(1) + number(0) + number(1) + number(3);
  return std::string("ML\xefR") + number(6) + "test" + '\0' + section(0, strings) +
         section(1, dialects) + section(3, offsets) + section(2, entries) + section(4, operations);
}

const std::string kNoOffsets = number(0) + number(0);

TEST(ReadBytecode, DialectsThatAreNotVersionedSayWhatWouldHelp) {
  const std::string file =
      file_with("stablehlo", "add", kNoOffsets, "", number(2) + number(0) + '\0' + number(0));
  const auto module = read_bytecode(file);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(module.error().message(), HasSubstr("portable artifact"));
  EXPECT_THAT(module.error().message(), HasSubstr("add: "));
}

TEST(ReadBytecode, OpsOfTheFutureAreNamed) {
  const std::string file =
      file_with("vhlo", "constant_v99", kNoOffsets, "", number(2) + number(0) + '\0' + number(0));
  EXPECT_THAT(error_of(file), HasSubstr("constant_v99: an unknown operation of VHLO"));
}

// builtin.module with the attributes of entry 0.
std::string module_with(const std::string& offsets, const std::string& entries) {
  return file_with("builtin", "module", offsets, entries,
                   number(2) + number(0) + '\x01' + number(0) + number(0));
}

TEST(ReadBytecode, CountsAreCheckedBeforeTheyAllocate) {
  const std::uint64_t huge = std::uint64_t{1} << 60;
  EXPECT_THAT(error_of(file_with("vhlo", "add_v1", number(huge) + number(0), "", number(0))),
              HasSubstr("a count of "));
  EXPECT_THAT(error_of(file_with("vhlo", "add_v1", kNoOffsets, "",
                                 number(2) + number(0) + '\x04' + number(0) + number(huge))),
              HasSubstr("a count of "));
}

TEST(ReadBytecode, StringsThatOverlapTheirLengthsAreAnError) {
  const std::string strings = number(3) + number(18) + number(1) + number(1);
  const std::string file = std::string("ML\xefR") + number(6) + "test" + '\0' + section(0, strings);
  EXPECT_THAT(error_of(file), HasSubstr("which do not fit"));
}

TEST(ReadBytecode, AnAttributeThatRefersToItselfIsAnError) {
  const std::string array = number(0) + number(1) + number(0);  // [attribute 0]
  EXPECT_THAT(
      error_of(module_with(
          number(1) + number(0) + number(0) + number(1) + number(array.size() * 2 + 1), array)),
      HasSubstr("refers to itself"));
}

// Each of n arrays has the next one twice.
std::string doubled_arrays(int n) {
  std::string offsets = number(static_cast<std::uint64_t>(n)) + number(0) + number(0) +
                        number(static_cast<std::uint64_t>(n));
  std::string entries;
  for (int i = 1; i <= n; ++i) {
    const auto next = number(static_cast<std::uint64_t>(i));
    const std::string array = i < n ? number(0) + number(2) + next + next : number(7);
    offsets += number(array.size() * 2 + 1);
    entries += array;
  }
  return module_with(offsets, entries);
}

TEST(ReadBytecode, AttributesThatStandForTooMuchAreAnError) {
  EXPECT_THAT(error_of(doubled_arrays(40)), HasSubstr("too large a program"));
  EXPECT_THAT(error_of(doubled_arrays(1000)), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace millrace::devices::stablehlo
