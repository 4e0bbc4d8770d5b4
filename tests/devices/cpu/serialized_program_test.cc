#include "millrace/devices/cpu/serialized_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::devices::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KernelChoiceTest, ListsAreReadAsTheyAreWritten) {
  for (const KernelChoices& choices :
       {KernelChoices{}, KernelChoices{{0, 2}}, KernelChoices{{3, 1}, {-1, -1}, {12, 0}}})
    EXPECT_EQ(parse_kernel_choices(to_text(choices)), choices) << to_text(choices);
  EXPECT_EQ(to_text(KernelChoices{{3, 1}, {-1, -1}}), "3.1 -1.-1");
}

TEST(KernelChoiceTest, OtherTextIsRefused) {
  for (const char* text : {"1", "1.", ".1", "1.2 ", " 1.2", "1.2  3.4", "1.2,3.4", "1.2x", "-2.0",
                           "1.-2", "99999999999.1"})
    EXPECT_EQ(parse_kernel_choices(text).error().code(), ErrorCode::kDataLoss) << text;
}

TEST(SerializedProgramTest, EverythingComesBack) {
  using namespace std::string_literals;  // for the zero inside
  const std::string code = "a program\n\nof many lines\0 and zeros"s;
  const std::string bytes = SerializedProgram{
      .code = code,
      .compiler = "abc",
      .deterministic = true,
      .replicas = 2,
      .devices = {DeviceId{3}, DeviceId{1}},
      .choices = {{1, 2},
                  {-1, -1}}}.to_bytes();
  const SerializedProgram read = SerializedProgram::parse(bytes).value();
  EXPECT_EQ(read.code, code);
  EXPECT_EQ(read.compiler, "abc");
  EXPECT_TRUE(read.deterministic);
  EXPECT_EQ(read.replicas, 2);
  EXPECT_EQ(read.partitions, 1);
  EXPECT_THAT(read.devices, ElementsAre(DeviceId{3}, DeviceId{1}));
  EXPECT_THAT(read.choices, ElementsAre(KernelChoice{1, 2}, KernelChoice{}));
  const std::string plain = SerializedProgram{.code = "x"}.to_bytes();
  const SerializedProgram other = SerializedProgram::parse(plain).value();
  EXPECT_EQ(other.replicas, 1);
  EXPECT_THAT(other.devices, IsEmpty());
  EXPECT_FALSE(other.deterministic);
  EXPECT_THAT(other.choices, IsEmpty());
}

TEST(SerializedProgramTest, WhatIsCutOrChangedInItsHeadIsRefused) {
  const std::string whole = SerializedProgram{
      .code = "x",
      .compiler = "abc",
      .devices = {DeviceId{1}},
      .choices = {{1, 2}}}.to_bytes();
  for (std::size_t length = 0; length + 1 < whole.size(); ++length)
    EXPECT_FALSE(SerializedProgram::parse(whole.substr(0, length))) << length;
  const std::string head = whole.substr(0, whole.find("\n\n"));
  const std::size_t compiler = head.find("abc");
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (i >= compiler && i < compiler + 3) continue;  // a compiler may have any name
    std::string changed = whole;
    changed[i] = '#';
    EXPECT_EQ(SerializedProgram::parse(changed).error().code(), ErrorCode::kInvalidArgument) << i;
  }
  EXPECT_FALSE(SerializedProgram::parse("func.func @main() {}"));
}

}  // namespace
}  // namespace millrace::devices::cpu
