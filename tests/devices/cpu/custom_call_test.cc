#include "millrace/devices/cpu/custom_call.h"

#include <string>
#include <vector>

#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu::testing {
namespace {

// Handlers belong to the process: each test brings names of its own.
Status add_one(const CustomCall& call) {
  const auto* from = reinterpret_cast<const float*>(call.operands[0].data);
  auto* to = reinterpret_cast<float*>(call.results[0].data);
  for (std::int64_t i = 0; i < call.results[0].shape.elements(); ++i) to[i] = from[i] + 1;
  return {};
}

TEST(CustomCallTest, HandlerSeesTypedArraysAndItsConfiguration) {
  std::string seen;
  ASSERT_TRUE(register_custom_call("test.add_one", [&seen](const CustomCall& call) {
                seen = std::string(call.target) + " " + std::string(call.backend_config) + " " +
                       call.operands[0].shape.to_string();
                return add_one(call);
              }).has_value());
  TestProgram program(R"(func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @test.add_one(%x) {backend_config = "fast"} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  })");
  const auto outputs = program.run({bytes_of<float>({1, 2})});
  EXPECT_EQ(values_of<float>(outputs[0]), (std::vector<float>{2, 3}));
  EXPECT_EQ(seen, "test.add_one fast tensor<2xf32>");
}

TEST(CustomCallTest, WhatPartitionersPutAroundValuesIsPassedOn) {
  TestProgram program(R"(
    sdy.mesh @mesh = <["x"=1]>
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = ""} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<2xf32>
    return %1 : tensor<2xf32>
  })");
  EXPECT_EQ(values_of<float>(program.run({bytes_of<float>({1, 2})})[0]),
            (std::vector<float>{1, 2}));
}

TEST(CustomCallTest, SecondHandlerOfANameIsRefused) {
  ASSERT_TRUE(register_custom_call("test.twice", add_one).has_value());
  const Status again = register_custom_call("test.twice", add_one);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code(), ErrorCode::kAlreadyExists);
}

TEST(CustomCallTest, ErrorOfAHandlerFailsTheExecutionWithThePlace) {
  ASSERT_TRUE(register_custom_call("test.fails", [](const CustomCall&) {
                return Status(fail(ErrorCode::kDataLoss, "nothing fits"));
              }).has_value());
  auto module = read::read_text(
      "func.func @main() {\n  stablehlo.custom_call @test.fails() {has_side_effect = true} : () -> "
      "()\n  return\n}");
  ASSERT_TRUE(module.has_value());
  const auto plan = Plan::create(*module, {});
  ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
  const auto context = RunContext::create(**plan);
  const auto serial = make_serial_parallel();
  const Status status = cpu::run(**plan, **context, {}, {}, *serial, [](int) {}, {});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(status.error().message(), "2:3: stablehlo.custom_call @test.fails: nothing fits");
}

TEST(CustomCallTest, EffectsRunInOrderThoughNobodyReadsThemAlsoInALoop) {
  std::string order;
  ASSERT_TRUE(register_custom_call("test.note", [&order](const CustomCall& call) {
                order += call.backend_config;
                return Status();
              }).has_value());
  TestProgram program(R"(func.func @main() -> tensor<i32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.custom_call @test.note() {backend_config = "a", has_side_effect = true} : () -> ()
    %0 = stablehlo.while(%i = %zero) : tensor<i32>
      cond { %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
             stablehlo.return %c : tensor<i1> }
      do { stablehlo.custom_call @test.note() {backend_config = "b", has_side_effect = true} : () -> ()
           %n = stablehlo.add %i, %one : tensor<i32>
           stablehlo.return %n : tensor<i32> }
    stablehlo.custom_call @test.note() {backend_config = "c", has_side_effect = true} : () -> ()
    stablehlo.custom_call @test.note() {backend_config = "never"} : () -> ()
    return %two : tensor<i32>
  })");
  program.run({});
  EXPECT_EQ(order, "abbc");
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
