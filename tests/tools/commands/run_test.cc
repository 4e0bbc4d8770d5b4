// `millrace run`, by running it on small programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/transfer/formats/npy.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace {
namespace {

using devices::DType;
using devices::Shape;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::run_millrace;

constexpr std::string_view kProgram = R"(module @scale {
  func.func public @main(%x: tensor<2x2xf32>, %by: tensor<f32>) -> (tensor<2x2xf32>, tensor<2x2xi1>) {
    %0 = stablehlo.broadcast_in_dim %by, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<2x2xf32>
    %2 = stablehlo.compare GT, %1, %0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    return %1, %2 : tensor<2x2xf32>, tensor<2x2xi1>
  }
}
)";

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    program_ = write("scale.mlir", kProgram);
    std::filesystem::create_directory(folder_.file("in"));
    x_ = write_floats("in/0.npy", Shape(DType::kF32, {2, 2}), {1, 2, 3, 4});
    by_ = write_floats("in/1.npy", Shape(DType::kF32, {}), {3});
  }
  std::string write(std::string_view name, std::string_view text) {
    return folder_.write(name, std::as_bytes(std::span(text)));
  }
  std::string write_floats(std::string_view name, const Shape& shape,
                           const std::vector<float>& values) {
    const std::string path = folder_.file(name);
    EXPECT_TRUE(transfer::write_npy_file(path, shape, std::as_bytes(std::span(values))));
    return path;
  }
  void expect_result(const std::string& folder) {
    const auto product = transfer::read_npy_file(folder + "/0.npy");
    ASSERT_TRUE(product) << product.error().to_string();
    EXPECT_EQ(product->shape(), Shape(DType::kF32, {2, 2}));
    const std::span<const float> values = product->as<float>();
    EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{3, 6, 9, 12}));
    const auto greater = transfer::read_npy_file(folder + "/1.npy");
    ASSERT_TRUE(greater) << greater.error().to_string();
    EXPECT_EQ(greater->shape(), Shape(DType::kI1, {2, 2}));
    EXPECT_EQ(greater->bytes()[0], std::byte{0});
    EXPECT_EQ(greater->bytes()[3], std::byte{1});
    EXPECT_FALSE(std::filesystem::exists(folder + "/2.npy"));
  }

  testing::TempFolder folder_;
  std::string program_, x_, by_;
};

// 2^62 turns: it ends only when it is stopped.
constexpr std::string_view kLongLoop = R"(module @loop {
  func.func public @main() -> tensor<i64> {
    %zero = stablehlo.constant dense<0> : tensor<i64>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %end = stablehlo.constant dense<4611686018427387904> : tensor<i64>
    %r:3 = stablehlo.while(%i = %zero, %by = %one, %last = %end) : tensor<i64>, tensor<i64>, tensor<i64>
     cond {
      %c = stablehlo.compare LT, %i, %last : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %by : tensor<i64>
      stablehlo.return %n, %by, %last : tensor<i64>, tensor<i64>, tensor<i64>
    }
    return %r#0 : tensor<i64>
  }
}
)";

TEST_F(RunTest, DeadlineEndsALongLoop) {
  const std::string loop = write("loop.mlir", kLongLoop);
  const Outcome o = run_millrace({"run", loop, "--deadline", "0.3"});
  EXPECT_EQ(o.code, 124) << o.err;
}

// Sent as soon as there is a handler: while it compiles, or runs the loop.
void expect_clean_stop(const std::string& loop, int signal, const std::string& name,
                       const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"run", loop};
  words.insert(words.end(), more.begin(), more.end());
  testing::Process process(testing::millrace_command(words));
  ASSERT_TRUE(process.wait_until_caught(signal));
  process.send(signal);
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 128 + signal) << o.err;
  EXPECT_EQ(o.err, "stopped running " + loop + " on " + name + "\n");
}

TEST_F(RunTest, CtrlCStopsCleanlyAndSaysSo) {
  expect_clean_stop(write("loop.mlir", kLongLoop), SIGINT, "SIGINT");
}
TEST_F(RunTest, SigtermStopsCleanlyAndSaysSo) {
  expect_clean_stop(write("loop.mlir", kLongLoop), SIGTERM, "SIGTERM");
}

TEST_F(RunTest, RepeatedShortRunsStopBetweenTwoOfThem) {
  expect_clean_stop(program_, SIGTERM, "SIGTERM",
                    {"--inputs", folder_.file("in"), "--repeat", "1000000000"});
}

// Nor has it a step between whose turns it could be stopped.
constexpr std::string_view kEmptyLoop = R"(func.func @main() -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.while(%i = %zero) : tensor<i32>
    cond {
      %true = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %true : tensor<i1>
    } do {
      stablehlo.return %i : tensor<i32>
    }
  return %r : tensor<i32>
}
)";

TEST_F(RunTest, ALoopWithoutAStepStopsCleanly) {
  expect_clean_stop(write("empty.mlir", kEmptyLoop), SIGTERM, "SIGTERM");
}

// The eigenvectors of 6,000 rows: one step, of minutes, that nothing can stop.
constexpr std::string_view kLongStep = R"(func.func @main() -> tensor<6000xf32> {
  %matrix = stablehlo.iota dim = 0 : tensor<6000x6000xf32>
  %r:5 = stablehlo.custom_call @lapack_sgeev_ffi(%matrix) {
      mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}}
      : (tensor<6000x6000xf32>) -> (tensor<6000xf32>, tensor<6000xf32>, tensor<6000x6000xcomplex<f32>>, tensor<6000x6000xcomplex<f32>>, tensor<i32>)
  return %r#0 : tensor<6000xf32>
}
)";

TEST_F(RunTest, DeadlineEndsTheProcessWhereAStepDoesNotEnd) {
  const std::string file = write("step.mlir", kLongStep);
  const auto start = [&](const std::string& limit) {
    return std::make_unique<testing::Process>(
        testing::millrace_command({"run", file, "--deadline", limit, "--json"}));
  };
  const auto there = [](const Outcome& told) {
    return told.err.find("has not ended within") != std::string::npos;
  };
  const auto [o, limit] = testing::until_limit(1, start, there);
  EXPECT_EQ(o.code, 124) << o.err;
  EXPECT_THAT(o.err, HasSubstr("--deadline " + limit + " came before " + file + " was done"));
  EXPECT_THAT(o.err, HasSubstr("has not ended within 0.8 s"));
  EXPECT_EQ(nlohmann::json::parse(o.out)["exit"], 124) << o.out;
}

constexpr std::string_view kLongProduct = R"(func.func @main() -> tensor<20000x20000xf32> {
  %x = stablehlo.iota dim = 0 : tensor<20000x20000xf32>
  %0 = stablehlo.dot %x, %x : (tensor<20000x20000xf32>, tensor<20000x20000xf32>) -> tensor<20000x20000xf32>
  return %0 : tensor<20000x20000xf32>
}
)";
// A transform of a prime length: to compile it takes many seconds.
constexpr std::string_view kLongTransform = R"(func.func @main() -> tensor<16777213xcomplex<f32>> {
  %x = stablehlo.constant dense<(1.0, 0.0)> : tensor<16777213xcomplex<f32>>
  %0 = stablehlo.fft %x, type = FFT, length = [16777213] : (tensor<16777213xcomplex<f32>>) -> tensor<16777213xcomplex<f32>>
  return %0 : tensor<16777213xcomplex<f32>>
}
)";

// A second after it at the latest; the rest is for a machine that is busy.
TEST_F(RunTest, DeadlineEndsWhateverTakesLong) {
  constexpr std::chrono::seconds kLimit(2), kMost = kLimit + std::chrono::seconds(4);
  const std::string files[] = {write("loop.mlir", kLongLoop), write("dot.mlir", kLongProduct),
                               write("fft.mlir", kLongTransform)};
  for (const std::string& file : files) {
    for (std::vector<std::string> words :
         {std::vector<std::string>{"run", file}, {"inspect", file, "--ops", "--repeat", "1"}}) {
      words.insert(words.end(), {"--deadline", std::to_string(kLimit.count())});
      const auto begin = std::chrono::steady_clock::now();
      const Outcome o = run_millrace(words);
      EXPECT_LT(std::chrono::steady_clock::now() - begin, kMost) << words[0] << " " << file;
      EXPECT_EQ(o.code, 124) << words[0] << " " << file << o.err;
      EXPECT_THAT(o.err, HasSubstr("--deadline 2 came before " + file + " was ")) << words[0];
    }
  }
}

TEST_F(RunTest, FoldersOfArraysGoInAndOut) {
  const Outcome o = run_millrace(
      {"run", program_, "--inputs", folder_.file("in"), "--outputs", folder_.file("a/out")});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, IsEmpty());
  EXPECT_THAT(o.err, HasSubstr("executed in"));
  expect_result(folder_.file("a/out"));
}

TEST_F(RunTest, ResultsOfLessThanAByteAreWrittenReadAndPrinted) {
  const std::string types = "tensor<3xi4>, tensor<2xui2>, tensor<2xf4E2M1FN>";
  const std::string made =
      write("made.mlir", "func.func @main() -> (" + types +
                             ") {\n"
                             "  %a = stablehlo.constant dense<[1, 2, -3]> : tensor<3xi4>\n"
                             "  %b = stablehlo.constant dense<[0, 3]> : tensor<2xui2>\n"
                             "  %c = stablehlo.constant dense<[0.5, -6.0]> : tensor<2xf4E2M1FN>\n"
                             "  return %a, %b, %c : " +
                             types + "\n}\n");
  const std::string same =
      write("same.mlir",
            "func.func @main(%a: tensor<3xi4>, %b: tensor<2xui2>, %c: tensor<2xf4E2M1FN>) -> "
            "(" +
                types + ") {\n  return %a, %b, %c : " + types + "\n}\n");
  const Outcome written = run_millrace({"run", made, "--outputs", folder_.file("small")});
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.err, HasSubstr("NumPy has no i4: such results are written as int8\n"));
  EXPECT_THAT(written.err, HasSubstr("NumPy has no ui2: such results are written as uint8\n"));
  EXPECT_THAT(written.err, HasSubstr("NumPy has no f4E2M1FN: such results are written as raw"));
  const Outcome read = run_millrace({"run", same, "--inputs", folder_.file("small")});
  ASSERT_EQ(read.code, 0) << read.err;
  EXPECT_EQ(
      read.out,
      "0: tensor<3xi4> [1, 2, -3]\n1: tensor<2xui2> [0, 3]\n2: tensor<2xf4E2M1FN> [0.5, -6]\n");
}

TEST_F(RunTest, ErrorNamesTheFirstOfManyBadArguments) {
  std::string arguments;
  for (int i = 0; i < 1000; ++i)
    arguments += (i == 0 ? "%a" : ", %a") + std::to_string(i) + ": tensor<f32>";
  const Outcome o = run_millrace(
      {"run", write("many.mlir", "func.func @main(" + arguments +
                                     ") -> tensor<f32> {\n  return %a0 : tensor<f32>\n}\n")});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_THAT(o.err, HasSubstr("takes 1000 arguments (tensor<f32>, tensor<f32>"));
  EXPECT_THAT(o.err, HasSubstr("tensor<f32> and 992 more)"));
}

TEST_F(RunTest, SingleFilesGoInAndASummaryComesOut) {
  const Outcome o = run_millrace({"run", program_, "--input", x_, "--input", by_});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out,
            "0: tensor<2x2xf32> [3, 6, 9, 12]\n1: tensor<2x2xi1> [false, true, true, true]\n");
}

TEST_F(RunTest, JsonHasTimesAndMemoryOfRepeatedRuns) {
  const Outcome o = run_millrace({"run", program_, "--inputs", folder_.file("in"), "--outputs",
                                  folder_.file("out"), "--repeat", "5", "--threads", "1",
                                  "--deterministic", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const nlohmann::json json = nlohmann::json::parse(o.out);
  EXPECT_GT(json["compile_ms"].get<double>(), 0);
  EXPECT_GT(json["execute_ms_min"].get<double>(), 0);
  EXPECT_GE(json["execute_ms_median"].get<double>(), json["execute_ms_min"].get<double>());
  EXPECT_GE(json["peak_bytes"].get<std::int64_t>(), 4 * 4 + 4);
  EXPECT_GE(json["execute_ms_p99"].get<double>(), json["execute_ms_median"].get<double>());
  EXPECT_EQ(json.size(), 5U);
  expect_result(folder_.file("out"));
}

TEST_F(RunTest, MissingProgramIsAFailureThatNamesIt) {
  const Outcome o = run_millrace({"run", folder_.file("none.mlir")});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("none.mlir"));
}

TEST_F(RunTest, ProgramThatDoesNotParseIsRejectedWithLineAndColumn) {
  const std::string bad = write("bad.mlir", "module {\n  func.func @main( {\n}\n");
  const Outcome o = run_millrace({"run", bad});
  EXPECT_EQ(o.code, 4);
  EXPECT_THAT(o.err, ::testing::ContainsRegex("bad.mlir: ?2:"));
}

TEST_F(RunTest, WrongNumberOfArgumentsIsAUsageErrorThatListsThem) {
  const Outcome few = run_millrace({"run", program_, "--input", x_});
  EXPECT_EQ(few.code, 2);
  EXPECT_THAT(few.err, HasSubstr("takes 2 arguments (tensor<2x2xf32>, tensor<f32>)"));
  write_floats("in/2.npy", Shape(DType::kF32, {}), {3});
  const Outcome many = run_millrace({"run", program_, "--inputs", folder_.file("in")});
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.err, HasSubstr("2.npy"));
}

TEST_F(RunTest, OneArgumentIsCountedInTheSingular) {
  const std::string one = write("one.mlir",
                                "module {\n"
                                "  func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n"
                                "    return %arg0 : tensor<f32>\n"
                                "  }\n"
                                "}\n");
  const Outcome o = run_millrace({"run", one, "--input", x_, "--input", x_});
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("takes 1 argument (tensor<f32>), but --input was given 2 times"));
}

TEST_F(RunTest, ArgumentOfAnotherShapeIsNamedWithBothShapes) {
  const Outcome o = run_millrace({"run", program_, "--input", by_, "--input", by_});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("1.npy is tensor<f32>, but argument 0"));
  EXPECT_THAT(o.err, HasSubstr("tensor<2x2xf32>"));
}

TEST_F(RunTest, DeadlineThatHasPassedGivesItsExitCode) {
  const Outcome o =
      run_millrace({"run", program_, "--inputs", folder_.file("in"), "--deadline", "0.000001"});
  EXPECT_EQ(o.code, 124) << o.err;
}

// Each replica adds its number to its argument; then both add up.
constexpr std::string_view kTwoReplicas = R"(module @two {
  func.func public @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %id = stablehlo.replica_id : tensor<ui32>
    %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %y = stablehlo.add %x, %b : tensor<2xf32>
    %sum = "stablehlo.all_reduce"(%y) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    return %y, %sum : tensor<2xf32>, tensor<2xf32>
  }
}
)";

std::vector<float> floats_of(const std::string& path) {
  const auto array = transfer::read_npy_file(path);
  EXPECT_TRUE(array) << path;
  if (!array) return {};
  const std::span<const float> values = array->as<float>();
  return {values.begin(), values.end()};
}

TEST_F(RunTest, AProgramOnSeveralDevicesGivesTheResultsOfEach) {
  const std::string program = write("two.mlir", kTwoReplicas);
  const std::string x = write_floats("x.npy", Shape(DType::kF32, {2}), {1, 2});
  const std::string out = folder_.file("out");
  const Outcome same =
      run_millrace({"run", program, "--devices", "2", "--input", x, "--outputs", out});
  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(floats_of(out + "/0/0.npy"), (std::vector<float>{1, 2}));
  EXPECT_EQ(floats_of(out + "/1/0.npy"), (std::vector<float>{2, 3}));
  EXPECT_EQ(floats_of(out + "/1/1.npy"), (std::vector<float>{3, 5}));

  std::filesystem::create_directories(folder_.file("each/0"));
  std::filesystem::create_directories(folder_.file("each/1"));
  write_floats("each/0/0.npy", Shape(DType::kF32, {2}), {1, 2});
  write_floats("each/1/0.npy", Shape(DType::kF32, {2}), {10, 20});
  const Outcome own = run_millrace(
      {"run", program, "--devices", "2", "--inputs", folder_.file("each"), "--outputs", out});
  ASSERT_EQ(own.code, 0) << own.err;
  EXPECT_EQ(floats_of(out + "/0/1.npy"), (std::vector<float>{12, 23}));
}

// On a mesh of 2 x 2. The second result lies as its operations suggest.
constexpr std::string_view kWhole = R"(module @whole attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(
      %x: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>},
      %one: tensor<f32>)
      -> (tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b", "a"}]>}, tensor<4xf32>) {
    %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %y = stablehlo.add %x, %ones : tensor<2x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %y, %sum : tensor<2x4xf32>, tensor<4xf32>
  }
}
)";

TEST_F(RunTest, AProgramForWholeArraysTakesAndGivesWholeArrays) {
  const std::string program = write("whole.mlir", kWhole);
  const std::string x = write_floats("x.npy", Shape(DType::kF32, {2, 4}), {1, 2, 3, 4, 5, 6, 7, 8});
  const std::string one = write_floats("one.npy", Shape(DType::kF32, {}), {1});
  const std::string out = folder_.file("out");
  const Outcome o = run_millrace({"run", program, "--input", x, "--input", one, "--outputs", out});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(floats_of(out + "/0.npy"), (std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(floats_of(out + "/1.npy"), (std::vector<float>{6, 8, 10, 12}));
  EXPECT_FALSE(std::filesystem::exists(out + "/0"));
  const Outcome part = run_millrace({"run", program, "--input", one, "--input", one});
  EXPECT_NE(part.code, 0);
  EXPECT_THAT(part.err, HasSubstr("argument 0 of " + program + " is tensor<2x4xf32>"));
}

// By two processes of a job.
std::vector<std::string> launched(const std::vector<std::string>& run) {
  std::vector<std::string> words = {"launch", "-n", "2", "--"};
  const std::vector<std::string> command = testing::millrace_command(run);
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

TEST_F(RunTest, AProgramSpansTheProcessesOfAJob) {
  const std::string program = write("two.mlir", kTwoReplicas);
  std::filesystem::create_directories(folder_.file("each/0"));
  std::filesystem::create_directories(folder_.file("each/1"));
  write_floats("each/0/0.npy", Shape(DType::kF32, {2}), {1, 2});
  write_floats("each/1/0.npy", Shape(DType::kF32, {2}), {10, 20});
  const std::string out = folder_.file("out");
  const Outcome o = run_millrace(launched({"run", program, "--devices", "2", "--repeat", "3",
                                           "--inputs", folder_.file("each"), "--outputs", out}));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(floats_of(out + "/0/0.npy"), (std::vector<float>{1, 2}));
  EXPECT_EQ(floats_of(out + "/1/0.npy"), (std::vector<float>{11, 21}));
  EXPECT_EQ(floats_of(out + "/0/1.npy"), (std::vector<float>{12, 23}));
  EXPECT_EQ(floats_of(out + "/1/1.npy"), (std::vector<float>{12, 23}));
  EXPECT_THAT(o.err, HasSubstr("median of 3"));
}

TEST_F(RunTest, AProgramForWholeArraysSpansTheProcessesOfAJob) {
  const std::string program = write("whole.mlir", kWhole);
  const std::string x = write_floats("x.npy", Shape(DType::kF32, {2, 4}), {1, 2, 3, 4, 5, 6, 7, 8});
  const std::string one = write_floats("one.npy", Shape(DType::kF32, {}), {1});
  const std::string out = folder_.file("out");
  const Outcome o =
      run_millrace(launched({"run", program, "--input", x, "--input", one, "--outputs", out}));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(floats_of(out + "/0.npy"), (std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(floats_of(out + "/1.npy"), (std::vector<float>{6, 8, 10, 12}));
}

// Two devices in each process.
TEST_F(RunTest, FourDevicesOfTwoProcessesRunOneProgram) {
  std::string four(kTwoReplicas);
  const std::string pair = "dense<[[0, 1]]> : tensor<1x2xi64>";
  ASSERT_NE(four.find(pair), std::string::npos);
  four.replace(four.find(pair), pair.size(), "dense<[[3, 1, 0, 2]]> : tensor<1x4xi64>");
  const std::string program = write("four.mlir", four);
  for (int d = 0; d < 4; ++d) {
    const std::string folder = "each/" + std::to_string(d);
    std::filesystem::create_directories(folder_.file(folder));
    const auto value = static_cast<float>(d);
    write_floats(folder + "/0.npy", Shape(DType::kF32, {2}), {value, 10 * value});
  }
  const std::string out = folder_.file("out4");
  const Outcome o = run_millrace(launched(
      {"run", program, "--devices", "4", "--inputs", folder_.file("each"), "--outputs", out}));
  ASSERT_EQ(o.code, 0) << o.err;
  for (int d = 0; d < 4; ++d) {
    const auto value = static_cast<float>(d);
    const std::string folder = out + "/" + std::to_string(d);
    EXPECT_EQ(floats_of(folder + "/0.npy"), (std::vector<float>{2 * value, 11 * value}));
    EXPECT_EQ(floats_of(folder + "/1.npy"), (std::vector<float>{12, 66}));
  }
}

TEST_F(RunTest, DevicesThatProcessesCannotHaveEquallyManyOfAreRefused) {
  const std::string program = write("three.mlir",
                                    "module @three attributes {mhlo.num_replicas = 3 : i32} {\n"
                                    "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                                    "return %x : tensor<2xf32>\n}\n}\n");
  const std::string x = write_floats("x.npy", Shape(DType::kF32, {2}), {1, 2});
  const Outcome o = run_millrace(launched({"run", program, "--input", x}));
  EXPECT_NE(o.code, 0);
  EXPECT_THAT(o.err, HasSubstr("is for 3 devices, which 2 processes of a job cannot have"));
}

TEST_F(RunTest, OtherNumbersOfDevicesThanTheProgramSaysAreRefused) {
  const std::string program = write("three.mlir",
                                    "module @three attributes {mhlo.num_replicas = 3 : i32} {\n"
                                    "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                                    "return %x : tensor<2xf32>\n}\n}\n");
  const std::string x = write_floats("x.npy", Shape(DType::kF32, {2}), {1, 2});
  const Outcome o = run_millrace({"run", program, "--devices", "2", "--input", x});
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("is for 3 devices, but --devices is 2"));
  EXPECT_EQ(run_millrace({"run", program, "--input", x}).code, 0);
}

}  // namespace
}  // namespace millrace
