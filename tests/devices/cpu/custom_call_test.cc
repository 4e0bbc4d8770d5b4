#include "millrace/devices/cpu/kernels/custom_call.h"
#include "millrace/devices/cpu/compile/make_plan.h"

#include <map>
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

// As JAX writes jax.ffi.ffi_call("test.constants", ...)(x, eps=1e-5, axis=1, deep=np.int32(7),
// ...), but for the last three attributes.
TEST(CustomCallTest, HandlerSeesTheConstantsOfAnFfiCallWithTheirTypes) {
  CallAttributes seen;
  ASSERT_TRUE(register_custom_call("test.constants", [&seen](const CustomCall& call) {
                seen.assign(call.attributes.begin(), call.attributes.end());
                EXPECT_EQ(call.backend_config, "");
                return add_one(call);
              }).has_value());
  TestProgram program(
      R"(func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.custom_call @test.constants(%arg0) {api_version = 4 : i32, backend_config = "", mhlo.backend_config = {axis = 1 : i64, deep = 7 : i32, eps = 1.000000e-05 : f64, fast = true, half = 5.000000e-01 : f32, m = dense<[[1, 2], [-3, 4]]> : tensor<2x2xi32>, mask = dense<[true, false]> : tensor<2xi1>, mode = "row", sizes = dense<1> : tensor<3xi64>, weights = dense<[1.500000e+00, 2.500000e+00]> : tensor<2xf32>, names = ["a", "b"], nested = {n = 2 : i64}, mixed = [1 : i64, "a"]}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  })");
  program.run({bytes_of<float>({1, 2, 3, 4, 5, 6})});
  std::map<std::string, DType> types;
  for (const CallAttribute& a : seen) types[a.name] = a.type;
  EXPECT_EQ(types, (std::map<std::string, DType>{{"axis", DType::kI64},
                                                 {"deep", DType::kI32},
                                                 {"eps", DType::kF64},
                                                 {"fast", DType::kI1},
                                                 {"half", DType::kF32},
                                                 {"m", DType::kI32},
                                                 {"mask", DType::kI1},
                                                 {"mode", DType::kInvalid},
                                                 {"names", DType::kInvalid},
                                                 {"nested", DType::kInvalid},
                                                 {"sizes", DType::kI64},
                                                 {"weights", DType::kF32}}));
  const auto is = [&seen]<class T>(const char* name, const T& value) {
    const T* found = find_attribute<T>(seen, name);
    return found != nullptr && *found == value;
  };
  using Integers = std::vector<std::int64_t>;
  EXPECT_TRUE(is("axis", std::int64_t{1}));
  EXPECT_TRUE(is("deep", std::int64_t{7}));
  EXPECT_TRUE(is("eps", 1e-5));
  EXPECT_TRUE(is("fast", true));
  EXPECT_TRUE(is("half", 0.5));
  EXPECT_TRUE(is("m", Integers{1, 2, -3, 4}));
  EXPECT_TRUE(is("mask", std::vector<std::uint8_t>{1, 0}));
  EXPECT_TRUE(is("mode", std::string("row")));
  EXPECT_TRUE(is("names", std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(is("sizes", Integers{1, 1, 1}));
  EXPECT_TRUE(is("weights", std::vector<double>{1.5, 2.5}));
  const auto* nested = find_attribute<CallAttributes>(seen, "nested");
  ASSERT_NE(nested, nullptr);
  ASSERT_NE(find_attribute<std::int64_t>(*nested, "n"), nullptr);
  EXPECT_EQ(*find_attribute<std::int64_t>(*nested, "n"), 2);
  EXPECT_EQ(find_attribute<double>(seen, "axis"), nullptr);
  EXPECT_EQ(find_attribute<double>(seen, "none"), nullptr);
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

TEST(CustomCallTest, WhatJaxKeepsFromDeadCodeHasNoResult) {
  TestProgram program(R"(func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    stablehlo.custom_call @dce_sink(%x) {has_side_effect = true} : (tensor<2xf32>) -> ()
    return %x : tensor<2xf32>
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
  auto module = stablehlo::text::read_text(
      "func.func @main() {\n  stablehlo.custom_call @test.fails() {has_side_effect = true} : () -> "
      "()\n  return\n}");
  ASSERT_TRUE(module.has_value());
  const auto plan = make_plan(*module, {});
  ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
  const auto context = RunContext::create(**plan);
  const auto serial = make_serial_parallel();
  const Status status = (*context)->run({}, {}, *serial);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(status.error().message(), "2:3: stablehlo.custom_call @test.fails: nothing fits");
}

TEST(CustomCallTest, UnreadEffectsRunInOrderAlsoInALoop) {
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
