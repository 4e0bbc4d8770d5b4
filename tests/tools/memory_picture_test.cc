// What `millrace inspect --svg` draws, from the plans of small programs.
#include "millrace/tools/inspect/memory_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace millrace::inspect {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two products with a temporary of 4 KiB each, and a loop with one of its own.
constexpr const char* kProgram = R"(
func.func @main(%x: tensor<32x32xf32>, %n: tensor<i32>) -> tensor<32x32xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
      : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0]
      : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %2:2 = stablehlo.while(%i = %n, %a = %1) : tensor<i32>, tensor<32x32xf32>
    cond {
      %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.subtract %i, %one : tensor<i32>
      %b = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
          : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      stablehlo.return %j, %b : tensor<i32>, tensor<32x32xf32>
    }
  %3 = stablehlo.dot_general %2#1, %0, contracting_dims = [1] x [0]
      : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
})";

TEST(MemoryPictureTest, PlacesThatAreInUseTogetherDoNotOverlapAndLieInTheArena) {
  const auto map = memory_map(devices::Program::from_text(kProgram, "p"));
  ASSERT_TRUE(map) << map.error().to_string();
  ASSERT_GE(map->places.size(), 3U);
  for (const MemoryPlace& a : map->places) {
    EXPECT_LE(a.first, a.last);
    EXPECT_LT(a.last, map->end);
    EXPECT_LE(a.offset + a.bytes, map->arena);
    for (const MemoryPlace& b : map->places) {
      if (&a == &b || a.last < b.first || b.last < a.first) continue;
      EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
    }
  }
  const std::vector<std::size_t> in_use = map->in_use();
  EXPECT_LE(*std::ranges::max_element(in_use), map->arena);
  EXPECT_GE(*std::ranges::max_element(in_use), 2U * 4096);
}

TEST(MemoryPictureTest, WhatIsInsideALoopIsTheLoops) {
  const auto map = memory_map(devices::Program::from_text(kProgram, "p"));
  ASSERT_TRUE(map) << map.error().to_string();
  EXPECT_EQ(map->step_at(map->places.front().first), "stablehlo.dot_general");
  EXPECT_TRUE(std::ranges::any_of(map->places, [&](const MemoryPlace& place) {
    return map->step_at(place.first) == "stablehlo.while" && place.bytes == 4096;
  }));
}

TEST(MemoryPictureTest, EveryPlaceOfSomeSizeIsDrawnAndTextIsEscaped) {
  MemoryMap map{
      .program = "a<b",
      .steps = {{"stablehlo.dot_general", 0}, {"fused loop of 2", 1}},
      .places = {{0, 1024, 0, 1, false}, {1024, 1024, 1, 1, true}, {2048, 1, 1, 1, false}},
      .arena = 4096,
      .end = 2};
  EXPECT_THAT(map.in_use(), ::testing::ElementsAre(1024, 2049));
  const std::string svg = draw(map);
  EXPECT_THAT(svg, HasSubstr("a&lt;b: 4.00 KiB"));
  EXPECT_THAT(svg, HasSubstr("most in use: 2.00 KiB at 1, in fused loop of 2"));
  EXPECT_THAT(svg, HasSubstr("stablehlo.dot_general, 1.00 KiB"));
  EXPECT_THAT(svg, Not(HasSubstr(", 1 B")));
  // A background, one per kind in the legend, and the two that can be seen.
  std::size_t rectangles = 0;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1))
    ++rectangles;
  EXPECT_EQ(rectangles, 1U + 5 + 2);
}

TEST(MemoryPictureTest, TitleHasTheEndOfALongPathAndOneStepIsOne) {
  const MemoryMap map{.program = std::string(200, 'a') + "/program.mlir",
                      .steps = {{"stablehlo.dot_general", 0}},
                      .places = {{0, 1024, 0, 0, false}},
                      .arena = 1024,
                      .end = 1};
  const std::string svg = draw(map);
  EXPECT_THAT(svg, HasSubstr("aaa/program.mlir: 1.00 KiB for what lies between 1 step;"));
  EXPECT_THAT(svg, HasSubstr(">..." + std::string(47, 'a') + "/program.mlir"));
}

TEST(MemoryPictureTest, ProgramWithoutTemporariesIsAnEmptyPicture) {
  const auto map = memory_map(devices::Program::from_text(
      "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }", "p"));
  ASSERT_TRUE(map) << map.error().to_string();
  EXPECT_EQ(map->arena, 0U);
  EXPECT_THAT(draw(*map), HasSubstr("p: 0 B"));
}

TEST(MemoryPictureTest, ProgramThatIsNoneIsAnErrorWithItsPlace) {
  const auto map = memory_map(devices::Program::from_text("func.func @main(", "p"));
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::inspect
