// The C interface where everything goes well, or goes wrong on the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/tools/c_api/rig.h"

namespace millrace::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CApiTest, ChainStartedAtOnceGivesTheSum) {
  Rig rig;
  const std::vector<float> x = {1, 2, 3}, y = {10, 20, 30};
  std::vector<float> sum(3);
  const millrace_executable add = rig.compile(kAdd);
  const millrace_buffer output = rig.execute(add, {rig.put(x), rig.put(y)})[0];
  rig.fetch(output, sum.data(), 12);
  rig.expect_success(5);
  EXPECT_THAT(sum, ElementsAre(11, 22, 33));
  EXPECT_EQ(rig.next().operation, 0U);
}

TEST(CApiTest, CompletionNamesItsOperation) {
  Rig rig;
  const std::vector<float> x = {1, 2, 3};
  const std::int64_t dims[] = {3};
  int mark = 0;
  const millrace_put_args args = {sizeof args, x.data(), 12, dims, 1, MILLRACE_F32, 0, &mark};
  millrace_buffer buffer = 0;
  millrace_operation operation = 0;
  ASSERT_EQ(told(millrace_put(rig.runtime, &args, &buffer, &operation)).message, "");
  const Finished put = rig.wait_next();
  EXPECT_EQ(put.operation, operation);
  EXPECT_EQ(put.kind, MILLRACE_PUT);
  EXPECT_EQ(put.result, buffer);
  EXPECT_EQ(put.user_data, &mark);

  const millrace_executable add = rig.compile(kAdd);
  const Finished compilation = rig.wait_next();
  EXPECT_EQ(compilation.kind, MILLRACE_COMPILE);
  EXPECT_EQ(compilation.result, add);
  EXPECT_EQ(compilation.user_data, nullptr);

  const millrace_buffer output = rig.execute(add, {buffer, buffer})[0];
  const Finished execution = rig.wait_next();
  EXPECT_EQ(execution.operation, rig.last);
  EXPECT_EQ(execution.kind, MILLRACE_EXECUTE);
  EXPECT_EQ(execution.result, output);

  float there[3];
  rig.fetch(output, there, sizeof there);
  const Finished fetch = rig.wait_next();
  EXPECT_EQ(fetch.kind, MILLRACE_FETCH);
  EXPECT_EQ(fetch.result, 0U);
}

TEST(CApiTest, DescriptorIsReadableExactlyWhileThereIsSomethingToTake) {  // CA-3
  Rig rig;
  EXPECT_FALSE(rig.readable());
  const std::vector<float> x = {1, 2, 3};
  const millrace_executable add = rig.compile(kAdd);
  const millrace_buffer a = rig.put(x);
  rig.wait(2);
  EXPECT_FALSE(rig.readable());
  const millrace_operation endless = rig.run_endless().first;
  EXPECT_FALSE(rig.readable());
  rig.put(x);
  rig.put(x);
  // Two wait to be taken, sooner or later; what was taken is not told again.
  rig.wait_next();
  EXPECT_TRUE(rig.readable(300'000));
  rig.wait_next();
  EXPECT_FALSE(rig.readable());
  EXPECT_EQ(rig.cancel(endless).message, "");
  EXPECT_TRUE(rig.readable());
  rig.next();
  EXPECT_FALSE(rig.readable());
  rig.execute(add, {a, a});
  rig.expect_success(1);
}

TEST(CApiTest, ProgramReportsItsShapesAndSeveralOutputsArrive) {
  Rig rig;
  const millrace_executable two =
      rig.compiled(R"(func.func @main(%x: tensor<2x3xf32>, %n: tensor<ui8>)
      -> (tensor<2x3xf32>, tensor<ui8>) {
    %0 = stablehlo.negate %x : tensor<2x3xf32>
    %1 = stablehlo.add %n, %n : tensor<ui8>
    return %0, %1 : tensor<2x3xf32>, tensor<ui8>
  })");
  millrace_signature signature = {sizeof signature, 0, 0};
  ASSERT_EQ(told(millrace_executable_signature(rig.runtime, two, &signature)).message, "");
  EXPECT_EQ(signature.inputs, 2U);
  EXPECT_EQ(signature.outputs, 2U);
  millrace_shape shape = {};
  shape.struct_size = sizeof shape;
  ASSERT_EQ(told(millrace_executable_input(rig.runtime, two, 0, &shape)).message, "");
  EXPECT_EQ(shape.dtype, MILLRACE_F32);
  EXPECT_EQ(shape.rank, 2);
  EXPECT_EQ(shape.dims[0], 2);
  EXPECT_EQ(shape.dims[1], 3);
  EXPECT_EQ(shape.bytes, 24U);
  ASSERT_EQ(told(millrace_executable_output(rig.runtime, two, 1, &shape)).message, "");
  EXPECT_EQ(shape.dtype, MILLRACE_U8);
  EXPECT_EQ(shape.rank, 0);
  EXPECT_EQ(shape.bytes, 1U);
  const Told beyond = told(millrace_executable_output(rig.runtime, two, 2, &shape));
  EXPECT_EQ(beyond.code, MILLRACE_OUT_OF_RANGE);
  EXPECT_THAT(beyond.message, AllOf(HasSubstr("array 2"), HasSubstr("which has 2")));

  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::uint8_t n = 21;
  const auto outputs = rig.execute(
      two, {rig.put(x.data(), 24, MILLRACE_F32, {2, 3}), rig.put(&n, 1, MILLRACE_U8, {})}, 2);
  std::vector<float> negated(6);
  std::uint8_t doubled = 0;
  rig.fetch(outputs[0], negated.data(), 24);
  rig.fetch(outputs[1], &doubled, 1);
  rig.expect_success(5);
  EXPECT_THAT(negated, ElementsAre(-1, -2, -3, -4, -5, -6));
  EXPECT_EQ(doubled, 42);
  ASSERT_EQ(told(millrace_buffer_shape(rig.runtime, outputs[0], &shape)).message, "");
  EXPECT_EQ(shape.rank, 2);
}

TEST(CApiTest, ShapeOfAPutIsKnownAtOnceAndOfAnOutputOnceItIsThere) {
  Rig rig;
  const std::int32_t zero = 0;
  const auto [endless, output] = rig.run_endless();
  const millrace_buffer put = rig.put(&zero, 4, MILLRACE_I32, {1});
  millrace_shape shape = {};
  shape.struct_size = sizeof shape;
  EXPECT_EQ(told(millrace_buffer_shape(rig.runtime, put, &shape)).message, "");
  EXPECT_EQ(shape.dims[0], 1);
  // An output has the shape that its program gives: of one that is none, it has the error.
  const millrace_executable broken = rig.compile("no program", "broken.mlir");
  const millrace_buffer never = rig.execute(broken, {put})[0];
  rig.wait(3);
  const Told failed = told(millrace_buffer_shape(rig.runtime, never, &shape));
  EXPECT_THAT(failed.message, HasSubstr("broken.mlir"));
  rig.cancel(endless);
  EXPECT_EQ(told(millrace_buffer_shape(rig.runtime, output, &shape)).code, MILLRACE_CANCELLED);
}

TEST(CApiTest, EmptyArraysAndLargeOnesMakeTheRoundTrip) {
  Rig rig;
  const std::size_t many = 1 << 20;  // 4 MiB: copied by other threads
  std::vector<float> x(many), back(many);
  std::iota(x.begin(), x.end(), 0.0F);
  rig.fetch(rig.put(x), back.data(), many * sizeof(float));
  rig.fetch(rig.put(nullptr, 0, MILLRACE_F64, {4, 0}), nullptr, 0);
  rig.expect_success(4);
  EXPECT_EQ(x, back);
}

TEST(CApiTest, DevicesAreListedAndKeptApart) {
  Rig rig(2);
  std::size_t count = 0;
  ASSERT_EQ(told(millrace_device_count(rig.runtime, &count)).message, "");
  EXPECT_EQ(count, 2U);
  millrace_device_info info = {sizeof info, -1, nullptr};
  ASSERT_EQ(told(millrace_device(rig.runtime, 1, &info)).message, "");
  EXPECT_EQ(info.id, 1);
  EXPECT_STREQ(info.kind, "cpu");
  EXPECT_EQ(told(millrace_device(rig.runtime, 2, &info)).code, MILLRACE_OUT_OF_RANGE);

  const std::vector<float> x = {1, 2, 3};
  float sum[3] = {};
  const millrace_executable add = rig.compiled(kAdd);
  const millrace_buffer here = rig.put(x, 0), there = rig.put(x, 1);
  rig.fetch(rig.execute(add, {there, there}, 1, 1)[0], sum, sizeof sum);
  rig.expect_success(4);
  EXPECT_THAT(sum, ElementsAre(2, 4, 6));
  rig.execute(add, {here, there}, 1, 0);
  const Finished crossed = rig.wait_next();
  EXPECT_EQ(crossed.error.code, MILLRACE_INVALID_ARGUMENT);
  EXPECT_THAT(crossed.error.message, HasSubstr("is on device 1"));
}

TEST(CApiTest, BadProgramFailsAllThatNeedItWithItsPlace) {
  Rig rig;
  const std::vector<float> x = {1, 2, 3};
  const millrace_executable broken = rig.compile(
      "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
      "  %0 = stablehlo.add %x, %nowhere : tensor<3xf32>\n"
      "  return %0 : tensor<3xf32>\n"
      "}\n",
      "broken.mlir");
  const millrace_operation compilation = rig.last;
  const millrace_buffer output = rig.execute(broken, {rig.put(x)})[0];
  const millrace_operation execution = rig.last;
  float back[3];
  rig.fetch(output, back, sizeof back);
  const millrace_operation fetch = rig.last;
  const auto all = rig.wait(4);
  for (const millrace_operation operation : {compilation, execution, fetch}) {
    const Told& error = all.at(operation).error;
    EXPECT_EQ(error.code, MILLRACE_INVALID_ARGUMENT);
    EXPECT_THAT(error.message, AllOf(HasSubstr("broken.mlir: 2:26:"), HasSubstr("nowhere")));
  }
  // Its handles stand for the error, and are destroyed like others.
  millrace_signature signature = {sizeof signature, 0, 0};
  EXPECT_EQ(told(millrace_executable_signature(rig.runtime, broken, &signature)).code,
            MILLRACE_INVALID_ARGUMENT);
  EXPECT_EQ(told(millrace_executable_destroy(rig.runtime, broken)).message, "");
  EXPECT_EQ(told(millrace_buffer_destroy(rig.runtime, output)).message, "");
}

TEST(CApiTest, WrongArgumentsOfAProgramAreItsError) {
  Rig rig;
  const millrace_executable add = rig.compiled(kAdd);
  const std::vector<float> three = {1, 2, 3}, four = {1, 2, 3, 4};
  const std::vector<std::int32_t> whole = {1, 2, 3};
  const millrace_buffer good = rig.put(three), longer = rig.put(four);
  const millrace_buffer other = rig.put(whole.data(), 12, MILLRACE_I32, {3});
  rig.expect_success(3);
  const auto error_of = [&](const std::vector<millrace_buffer>& arguments, std::size_t outputs) {
    rig.execute(add, arguments, outputs);
    return rig.wait_next().error;
  };
  const auto expect = [](const Told& error, const char* words) {
    EXPECT_EQ(error.code, MILLRACE_INVALID_ARGUMENT);
    EXPECT_THAT(error.message, HasSubstr(words));
  };
  expect(error_of({good, longer}, 1), "a tensor<4xf32>, should be tensor<3xf32>");
  expect(error_of({other, good}, 1), "a tensor<3xi32>, should be tensor<3xf32>");
  expect(error_of({good}, 1), "takes 2 arguments, not 1");
  expect(error_of({good, good}, 2), "gives 1 output, but num_outputs is 2");
  expect(error_of({good, good}, 0), "gives 1 output, but num_outputs is 0");
  float back[4] = {};
  rig.fetch(good, back, sizeof back);
  const Told fetched = rig.wait_next().error;
  expect(fetched, "a fetch of tensor<3xf32>, which has 12 bytes, but destination_bytes is 16");
  EXPECT_EQ(error_of({good, good}, 1).code, MILLRACE_OK);
}

TEST(CApiTest, DonatedArgumentIsGoneAfterwards) {
  Rig rig;
  const millrace_executable twice = rig.compiled(
      "func.func @main(%x: tensor<3xf32> {tf.aliasing_output = 0 : i32}) -> tensor<3xf32> {\n"
      "  %0 = stablehlo.add %x, %x : tensor<3xf32>\n"
      "  return %0 : tensor<3xf32>\n"
      "}\n");
  const std::vector<float> values = {1, 2, 3};
  float back[3] = {};
  // All at once: the operation of the put finishes well although its buffer is given away.
  const millrace_buffer x = rig.put(values);
  rig.fetch(rig.execute(twice, {x})[0], back, sizeof back);
  rig.expect_success(3);
  EXPECT_THAT(back, ElementsAre(2, 4, 6));
  rig.execute(twice, {x});
  EXPECT_THAT(rig.wait_next().error.message, HasSubstr("donated"));
  EXPECT_EQ(told(millrace_buffer_destroy(rig.runtime, x)).message, "");
}

TEST(CApiTest, WorkStartedWithAHandleRunsOnAfterItsEnd) {
  Rig rig;
  const std::vector<float> values = {1, 2, 3};
  float back[3] = {};
  const millrace_executable add = rig.compile(kAdd);
  const millrace_buffer x = rig.put(values);
  const millrace_buffer sum = rig.execute(add, {x, x})[0];
  rig.fetch(sum, back, sizeof back);
  EXPECT_EQ(told(millrace_executable_destroy(rig.runtime, add)).message, "");
  EXPECT_EQ(told(millrace_buffer_destroy(rig.runtime, x)).message, "");
  EXPECT_EQ(told(millrace_buffer_destroy(rig.runtime, sum)).message, "");
  rig.expect_success(4);
  EXPECT_THAT(back, ElementsAre(2, 4, 6));
}

TEST(CApiTest, VersionIsReturned) {
  EXPECT_THAT(millrace_version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace millrace::testing
