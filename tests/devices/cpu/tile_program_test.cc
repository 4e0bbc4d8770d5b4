#include "millrace/devices/cpu/kernels/functions/tile_program.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace millrace::devices::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::array<float, 8> kOdd = {
    0.0f, -0.0f, 1.5f, -3.25f, 1e38f, kInf, -kInf, std::numeric_limits<float>::quiet_NaN()};

struct Step {
  TileOp op;
  std::vector<int> inputs;
};

// What the last step gives for inputs of n elements, and how many instructions that took. apart:
// each result is an output too, so that none is joined with another.
template <class T>
std::vector<T> run(DType type, const std::vector<std::vector<T>>& inputs,
                   const std::vector<Step>& steps, bool apart, int* instructions = nullptr) {
  TileProgram program;
  for (std::size_t i = 0; i < inputs.size(); ++i) program.add_input(type);
  int last = 0;
  for (const Step& step : steps) {
    last = program.add(step.op, step.inputs, type);
    if (apart) program.add_output(last);
  }
  program.add_output(last);
  EXPECT_TRUE(program.finish());
  if (instructions != nullptr) *instructions = program.instructions();
  const int n = static_cast<int>(inputs[0].size());
  std::vector<std::byte> scratch(program.scratch_bytes_per_element() * kTileElements);
  std::vector<void*> pointers(TileProgram::kMaxValues);
  program.bind(scratch.data(), pointers.data(), kTileElements, n);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    pointers[static_cast<std::size_t>(program.inputs()[i])] = const_cast<T*>(inputs[i].data());
  program.run(pointers.data(), n);
  const T* const result = static_cast<const T*>(pointers[static_cast<std::size_t>(last)]);
  return {result, result + n};
}

// Whichever of two NaNs comes out of an operation.
void expect_same(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(a[i]), std::bit_cast<std::uint32_t>(b[i])) << i;
  }
}

TEST(TileProgramTest, TwoOperationsThatHaveALoopAreOneInstructionWithTheSameResults) {
  std::vector<std::vector<float>> inputs(3);
  for (const float a : kOdd) {
    for (const float b : kOdd) {
      for (const float c : kOdd) {
        inputs[0].push_back(a);
        inputs[1].push_back(b);
        inputs[2].push_back(c);
      }
    }
  }
  using enum TileOp;
  for (const TileOp first : {kAdd, kSubtract, kMultiply}) {
    for (const TileOp second : {kAdd, kSubtract, kMultiply, kMaximum, kMinimum}) {
      for (const bool swapped : {false, true}) {
        SCOPED_TRACE(std::string(to_string(first)) + ", " + std::string(to_string(second)));
        const std::vector<Step> steps = {
            {first, {0, 1}}, {second, swapped ? std::vector<int>{2, 3} : std::vector<int>{3, 2}}};
        int joined = 0, apart = 0;
        const auto as_one = run<float>(DType::kF32, inputs, steps, false, &joined);
        expect_same(as_one, run<float>(DType::kF32, inputs, steps, true, &apart));
        EXPECT_EQ(joined, 1);
        EXPECT_EQ(apart, 2);
      }
    }
  }
}

// A number, how far it is rotated, the rest of 32, and another number.
std::vector<std::vector<std::uint32_t>> rotations() {
  std::mt19937 random(1);
  std::vector<std::vector<std::uint32_t>> inputs(4);
  for (std::uint32_t i = 0; i < 40; ++i) {
    inputs[0].push_back(static_cast<std::uint32_t>(random()));
    inputs[1].push_back(i);
    inputs[2].push_back(32 - i);  // all shifts of 32 and more give 0
    inputs[3].push_back(static_cast<std::uint32_t>(random()));
  }
  return inputs;
}

TEST(TileProgramTest, ShiftsOfOneValueBothWaysAreARotation) {
  auto inputs = rotations();
  inputs.pop_back();
  using enum TileOp;
  const std::vector<Step> left_first = {
      {kShiftLeft, {0, 1}}, {kShiftRightLogical, {0, 2}}, {kOr, {3, 4}}};
  const std::vector<Step> right_first = {
      {kShiftLeft, {0, 1}}, {kShiftRightLogical, {0, 2}}, {kOr, {4, 3}}};
  for (const auto& steps : {left_first, right_first}) {
    int instructions = 0;
    const auto rotated = run<std::uint32_t>(DType::kU32, inputs, steps, false, &instructions);
    EXPECT_EQ(instructions, 1);
    EXPECT_EQ(rotated, run<std::uint32_t>(DType::kU32, inputs, steps, true));
    for (std::size_t i = 1; i < 32; ++i)
      EXPECT_EQ(rotated[i], std::rotl(inputs[0][i], static_cast<int>(i))) << i;
  }
  const std::vector<Step> of_two_values = {
      {kShiftLeft, {0, 1}}, {kShiftRightLogical, {1, 2}}, {kOr, {3, 4}}};
  int instructions = 0;
  run<std::uint32_t>(DType::kU32, inputs, of_two_values, false, &instructions);
  EXPECT_EQ(instructions, 3);
}

TEST(TileProgramTest, AnXorTakesARotationIntoItsLoop) {
  const auto inputs = rotations();
  using enum TileOp;
  const std::vector<Step> rotation = {
      {kShiftLeft, {0, 1}}, {kShiftRightLogical, {0, 2}}, {kOr, {4, 5}}};
  for (const auto& operands : {std::vector<int>{6, 3}, std::vector<int>{3, 6}}) {
    std::vector<Step> steps = rotation;
    steps.push_back({kXor, operands});
    int instructions = 0;
    const auto mixed = run<std::uint32_t>(DType::kU32, inputs, steps, false, &instructions);
    EXPECT_EQ(instructions, 1);
    EXPECT_EQ(mixed, run<std::uint32_t>(DType::kU32, inputs, steps, true));
    for (std::size_t i = 1; i < 32; ++i)
      EXPECT_EQ(mixed[i], std::rotl(inputs[0][i], static_cast<int>(i)) ^ inputs[3][i]) << i;
  }
  std::vector<Step> with_itself = rotation;  // its result is needed twice
  with_itself.push_back({kXor, {6, 6}});
  int instructions = 0;
  const auto nothing = run<std::uint32_t>(DType::kU32, inputs, with_itself, false, &instructions);
  EXPECT_EQ(instructions, 2);
  EXPECT_EQ(nothing, std::vector<std::uint32_t>(40));
}

// Comparators of sorts, whose keys are slices: each side makes a key of its argument.
TEST(TileProgramTest, WhatIsJoinedIsSlicedToo) {
  using enum TileOp;
  const float two = 2;
  const std::uint32_t left = 7, right = 25;
  for (const DType type : {DType::kF32, DType::kU32}) {
    TileProgram program;
    const std::array<int, 2> sides{program.add_input(type), program.add_input(type)};
    std::array<int, 2> keys{};
    for (std::size_t s = 0; s < 2; ++s) {
      const int x = sides[s];
      const auto add = [&](TileOp op, int a, int b) {
        return program.add(op, std::array{a, b}, type);
      };
      if (type == DType::kF32) {
        keys[s] = add(kSubtract, program.add_constant(type, &two), add(kMultiply, x, x));
      } else {
        const int up = add(kShiftLeft, x, program.add_constant(type, &left));
        keys[s] = add(kOr, up, add(kShiftRightLogical, x, program.add_constant(type, &right)));
      }
    }
    program.add_output(program.add(kLt, keys, DType::kI1));
    ASSERT_TRUE(program.finish());
    EXPECT_EQ(program.instructions(), 3);
    const auto first = program.slice(keys[0], sides[0]);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->instructions(), 1);
    EXPECT_EQ(first, program.slice(keys[1], sides[1]));
    EXPECT_FALSE(program.slice(keys[0], sides[1]).has_value());
  }
}

TEST(TileProgramTest, AResultThatIsNeededTwiceIsMadeOnce) {
  const std::vector<std::vector<float>> inputs = {{2}, {3}, {5}};
  using enum TileOp;
  int instructions = 0;
  const auto result =
      run<float>(DType::kF32, inputs,
                 {{kMultiply, {0, 1}}, {kAdd, {3, 2}}, {kSubtract, {3, 2}}, {kMultiply, {4, 5}}},
                 false, &instructions);
  EXPECT_EQ(result[0], 11);
  EXPECT_EQ(instructions, 3);  // the product, one of its uses, and the other with the last product
}

TEST(TileProgramTest, RandomProgramsGiveWhatTheyGiveStepByStep) {
  constexpr std::array kOps = {TileOp::kAdd,     TileOp::kSubtract, TileOp::kMultiply,
                               TileOp::kMaximum, TileOp::kMinimum,  TileOp::kDivide};
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<std::vector<float>> inputs(4, std::vector<float>(kTileElements));
    for (auto& input : inputs) {
      for (float& x : input)
        x = random() % 4 == 0 ? kOdd[random() % kOdd.size()]
                              : std::uniform_real_distribution<float>(-2, 2)(random);
    }
    std::vector<Step> steps(30);
    int values = 4;
    for (Step& step : steps) {
      // The last one more often than not, as in the chains that programs are.
      const int a = values - 1 - static_cast<int>(random() % 2);
      const int b = static_cast<int>(random() % static_cast<unsigned>(values));
      step = {kOps[random() % kOps.size()],
              random() % 2 == 0 ? std::vector<int>{a, b} : std::vector<int>{b, a}};
      ++values;
    }
    int joined = 0;
    const auto as_one = run<float>(DType::kF32, inputs, steps, false, &joined);
    EXPECT_LT(joined, 30);
    expect_same(as_one, run<float>(DType::kF32, inputs, steps, true));
  }
}

}  // namespace
}  // namespace millrace::devices::cpu
