#include "millrace/devices/cpu/compile/run_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "tests/devices/cpu/run_support.h"
#include "tests/support/allocation_count.h"
#include "tests/support/paths.h"

namespace millrace::devices::cpu {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::TestProgram;
using testing::values_of;

// Runs with addresses that the test chooses.
Status run_at(TestProgram& p, const std::vector<const void*>& in, const std::vector<void*>& out,
              std::stop_token stop = {}, std::vector<int>* written = nullptr) {
  const auto serial = make_serial_parallel();
  return p.context().run(
      in, out, *serial,
      [&](int o) {
        if (written != nullptr) written->push_back(o);
      },
      stop);
}

TEST(RunTest, InputsAndSharedValuesAsOutputsAreCopied) {
  TestProgram p(
      R"(func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    %c = stablehlo.constant dense<[7.0, 8.0]> : tensor<2xf32>
    return %x, %0, %0, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>
  })");
  const auto out = p.run({bytes_of<float>({1, 2, 3})});
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(values_of<float>(out[1]), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(values_of<float>(out[2]), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(values_of<float>(out[3]), (std::vector<float>{7, 8}));
}

constexpr char kCountdown[] =
    R"(func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %n, %a = %x, %b = %x) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.subtract %i, %one : tensor<i32>
    %s = stablehlo.add %a, %x : tensor<4xf32>
    stablehlo.return %d, %b, %s : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
})";

TEST(RunTest, WhileSwapsItsValuesAndReadsWhatIsAround) {
  TestProgram p(kCountdown);
  // (a, b) -> (b, a + x), five times from (x, x): 1 1 -> 1 2 -> 2 2 -> 2 3 -> 3 3 -> 3 4
  const auto out = p.run({bytes_of<std::int32_t>({5}), bytes_of<float>({1, 2, 3, 4})});
  EXPECT_EQ(values_of<std::int32_t>(out[0])[0], 0);
  EXPECT_EQ(values_of<float>(out[1]), (std::vector<float>{3, 6, 9, 12}));
  EXPECT_EQ(values_of<float>(out[2]), (std::vector<float>{4, 8, 12, 16}));
}

TEST(RunTest, CaseTakesTheLastBranchForAnIndexOutOfRange) {
  TestProgram p(R"(func.func @main(%i: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.case"(%i) ({
      %0 = stablehlo.negate %x : tensor<2xf32>
      stablehlo.return %0 : tensor<2xf32>
    }, {
      stablehlo.return %x : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  })");
  const auto x = bytes_of<float>({1, 2});
  EXPECT_EQ(values_of<float>(p.run({bytes_of<std::int32_t>({0}), x})[0]),
            (std::vector<float>{-1, -2}));
  for (const std::int32_t i : {1, 2, -1}) {
    EXPECT_EQ(values_of<float>(p.run({bytes_of<std::int32_t>({i}), x})[0]),
              (std::vector<float>{1, 2}));
  }
}

TEST(RunTest, StopBetweenStepsGivesCancelled) {
  TestProgram p(kCountdown);
  std::stop_source source;
  source.request_stop();
  const std::int32_t n = 5;
  std::vector<float> x(4), a(4), b(4);
  std::int32_t left = 0;
  const Status s = run_at(p, {&n, x.data()}, {&left, a.data(), b.data()}, source.get_token());
  ASSERT_FALSE(s.has_value());
  EXPECT_EQ(s.error().code(), ErrorCode::kCancelled);
}

TEST(RunTest, MisalignedInputIsRead) {
  TestProgram p(
      "func.func @main(%x: tensor<9xf32>) -> tensor<9xf32> {\n%0 = stablehlo.negate %x : "
      "tensor<9xf32>\nreturn %0 : tensor<9xf32>\n}");
  const std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<std::byte> shifted(64);
  std::memcpy(shifted.data() + 1, x.data(), 36);
  std::vector<float> y(9);
  ASSERT_TRUE(run_at(p, {shifted.data() + 1}, {y.data()}).has_value());
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(y[i], -x[i]);
}

TEST(RunTest, InputThatIsNotDonatedIsNeverWritten) {
  TestProgram p(
      R"(func.func @main(%x: tensor<8xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<8xf32> {
    %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
    %1 = stablehlo.add %0, %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
  })");
  std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7}, u{10, 11}, y(8);
  const auto before = x;
  const std::int32_t at = 100;  // clamped to 6
  ASSERT_TRUE(run_at(p, {x.data(), u.data(), &at}, {y.data()}).has_value());
  EXPECT_EQ(x, before);
  EXPECT_EQ(y, (std::vector<float>{0, 2, 4, 6, 8, 10, 20, 22}));
}

TEST(RunTest, DonatedInputIsUpdatedInPlaceWithTheSameResult) {
  const std::string text = testing::read_whole_file(millrace::testing::source_folder() +
                                                    "/tools/models/mnist/update.mlir");
  TestProgram p(text);
  ASSERT_EQ(p.plan().aliases().size(), 24u);
  std::vector<Bytes> inputs;
  for (std::size_t i = 0; i < p.plan().inputs().size(); ++i) {
    std::vector<float> v(static_cast<std::size_t>(p.plan().inputs()[i].elements()));
    for (std::size_t k = 0; k < v.size(); ++k)
      v[k] = static_cast<float>((i * 31 + k * 7) % 101) - 50;
    inputs.push_back(bytes_of(v));
  }
  const auto want = p.run(inputs);
  std::vector<const void*> in;
  std::vector<void*> out(p.plan().outputs().size());
  for (Bytes& b : inputs) in.push_back(b.data());
  for (const OutputAlias& a : p.plan().aliases())
    out[static_cast<std::size_t>(a.output)] = inputs[static_cast<std::size_t>(a.input)].data();
  ASSERT_TRUE(run_at(p, in, out).has_value());
  for (std::size_t o = 0; o < out.size(); ++o)
    EXPECT_EQ(std::memcmp(out[o], want[o].data(), want[o].size()), 0) << o;
}

TEST(RunTest, GradientsOfLateLayersAreWrittenLongBeforeTheEnd) {
  TestProgram p = TestProgram::from_file(millrace::testing::source_folder() +
                                         "/tools/models/mnist/grad_64.mlir");
  std::vector<Bytes> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Shape& s : p.plan().inputs()) in.push_back(inputs.emplace_back(s.size_bytes()).data());
  for (const Shape& s : p.plan().outputs())
    out.push_back(outputs.emplace_back(s.size_bytes()).data());
  std::vector<int> written;
  ASSERT_TRUE(run_at(p, in, out, {}, &written).has_value());
  ASSERT_EQ(written.size(), outputs.size());
  const auto place = [&](int o) {
    return std::find(written.begin(), written.end(), o) - written.begin();
  };
  // Output 11: fc2.weight, 9: fc1.weight, 5: conv2.weight, 1: conv1.weight.
  EXPECT_LT(place(11), place(9));
  EXPECT_LT(place(9), place(5));
  EXPECT_LT(place(5), place(1));
  std::vector<bool> seen(outputs.size(), false);
  for (int o : written) {
    EXPECT_FALSE(seen[static_cast<std::size_t>(o)]) << "output " << o << " told twice";
    seen[static_cast<std::size_t>(o)] = true;
  }
}

TEST(RunTest, ExecutionAllocatesNothingOutsideOneDnn) {
  if (!millrace::testing::kAllocationsCountable)
    GTEST_SKIP() << "allocations are not countable under a sanitizer";
  // Everything that runs in Millrace's own kernels.
  TestProgram p(kCountdown);
  const std::int32_t n = 10'000;
  std::vector<float> x(4), a(4), b(4);
  std::int32_t left = 0;
  const std::vector<const void*> in{&n, x.data()};
  const std::vector<void*> out{&left, a.data(), b.data()};
  const auto serial = make_serial_parallel();
  const auto once = [&] { return p.context().run(in, out, *serial).has_value(); };
  ASSERT_TRUE(once());
  const millrace::testing::AllocationCount count;
  EXPECT_TRUE(once());
  EXPECT_EQ(count.count(), 0);
}

class TrainingStepTest : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainingStepTest, AllocatesNothingButInsideOneDnn) {
  if (!millrace::testing::kAllocationsCountable)
    GTEST_SKIP() << "allocations are not countable under a sanitizer";
  TestProgram p = TestProgram::from_file(millrace::testing::source_folder() + "/tools/models/" +
                                         GetParam() + ".mlir");
  std::vector<Bytes> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Shape& s : p.plan().inputs()) in.push_back(inputs.emplace_back(s.size_bytes()).data());
  for (const Shape& s : p.plan().outputs())
    out.push_back(outputs.emplace_back(s.size_bytes()).data());
  const auto serial = make_serial_parallel();
  const auto once = [&] { return p.context().run(in, out, *serial).has_value(); };
  ASSERT_TRUE(once());
  const millrace::testing::AllocationCount count(inside_onednn);
  EXPECT_TRUE(once());
  EXPECT_EQ(count.count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Models, TrainingStepTest,
                         ::testing::Values("mnist/grad_64", "decoder/step"), [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('/'));
                         });

TEST(RunTest, SeveralExecutionsOfOnePlanRunAtOnce) {
  auto module = stablehlo::text::read_text(testing::read_whole_file(
      millrace::testing::source_folder() + "/tools/models/mnist/predict_16.mlir"));
  ASSERT_TRUE(module.has_value());
  const auto plan = make_plan(*module, {.deterministic = true});
  ASSERT_TRUE(plan.has_value());
  std::vector<Bytes> inputs;
  std::vector<const void*> in;
  for (std::size_t i = 0; i < (*plan)->inputs().size(); ++i) {
    const Shape& s = (*plan)->inputs()[i];
    Bytes b(s.size_bytes());
    if (s.dtype() == DType::kF32) {
      std::vector<float> v(static_cast<std::size_t>(s.elements()));
      for (std::size_t k = 0; k < v.size(); ++k)
        v[k] = 0.01f * static_cast<float>((k * 17 + i) % 29) + 0.01f;
      b = bytes_of(v);
    }
    inputs.push_back(std::move(b));
  }
  for (const Bytes& b : inputs) in.push_back(b.data());
  std::vector<std::vector<float>> results(4, std::vector<float>(160));
  {
    std::vector<std::jthread> threads;
    for (auto& r : results) {
      threads.emplace_back([&] {
        const auto serial = make_serial_parallel();
        const auto context = RunContext::create(**plan).value();
        void* out = r.data();
        for (int i = 0; i < 20; ++i) EXPECT_TRUE(context->run(in, {&out, 1}, *serial).has_value());
      });
    }
  }
  for (const auto& r : results) EXPECT_EQ(r, results[0]);
}

}  // namespace
}  // namespace millrace::devices::cpu
