// `millrace inspect` and `millrace env`, by running them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::mnist_model;
using testing::Outcome;
using testing::run_millrace;
using testing::TempFolder;
using Json = nlohmann::json;

// x is donated and becomes the result; w is an argument of a called function.
constexpr const char* kProgram = R"(module @small {
  func.func public @main(%x: tensor<8x4xf32> {tf.aliasing_output = 0 : i32}, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.add %x, %x : tensor<8x4xf32>
    %1 = func.call @double(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  func.func private @double(%w: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.add %w, %w : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
)";

std::string write(const TempFolder& folder, const std::string& text) {
  return folder.write("p.mlir", std::as_bytes(std::span(text)));
}

TEST(InspectCommandTest, TimesTheStepsInsideOfLoopsEachTimeThatTheyRun) {
  const TempFolder folder;
  const std::string file = write(folder, R"(
func.func @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %n = stablehlo.constant dense<7> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, tensor<16x16xf32>
    cond {
      %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.subtract %i, %one : tensor<i32>
      %b = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
          : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      stablehlo.return %j, %b : tensor<i32>, tensor<16x16xf32>
    }
  return %0#1 : tensor<16x16xf32>
})");
  const Outcome o = run_millrace({"inspect", file, "--ops", "--repeat", "3", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  std::map<std::string, Json> ops;
  for (const Json& op : json["ops"]) ops[op["name"]] = op;
  EXPECT_EQ(ops["stablehlo.dot_general as gemm"]["count"], 7);
  EXPECT_EQ(ops["stablehlo.dot_general as gemm"]["operations"], 7 * 2 * 16 * 16 * 16);
  EXPECT_EQ(ops["stablehlo.while"]["count"], 1);
}

TEST(InspectCommandTest, DrawsTheMemoryOfARun) {
  const TempFolder folder;
  const std::string out = folder.file("p.svg");
  const Outcome o = run_millrace({"inspect", mnist_model() + "/grad_64.mlir", "--svg", out});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("memory of a run"));
  std::ifstream file(out);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 100);
  EXPECT_THAT(svg, HasSubstr("stablehlo.convolution"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(
      run_millrace({"inspect", mnist_model() + "/grad_64.mlir", "--svg", "/no/such/p.svg"}).code,
      0);
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(InspectCommandTest, WritesTheProgramAsAnArtifactAndThatAsText) {
  const TempFolder folder;
  const std::string model = mnist_model() + "/grad_64.mlir";
  const std::string artifact = folder.file("p.mlir.bc");
  const Outcome o = run_millrace({"inspect", model, "--write", artifact, "--vhlo", "1.3.0"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(content(artifact).starts_with("ML\xefR\x0dStableHLO_v1.3.0"));
  const std::string text = folder.file("text.mlir");
  const std::string again = folder.file("again.mlir.bc");
  ASSERT_EQ(run_millrace({"inspect", artifact, "--write", text}).code, 0);
  EXPECT_THAT(content(text), HasSubstr("stablehlo.convolution"));
  ASSERT_EQ(run_millrace({"inspect", text, "--write", again, "--vhlo", "1.3.0"}).code, 0);
  EXPECT_EQ(content(again), content(artifact));
  EXPECT_NE(run_millrace({"inspect", model, "--write", text, "--vhlo", "1.3.0"}).code, 0);
  EXPECT_NE(run_millrace({"inspect", model, "--write", "/no/such/p.mlir"}).code, 0);
}

TEST(InspectCommandTest, ReportsFunctionsDonationOperationsAndMemory) {
  const TempFolder folder;
  const Outcome o = run_millrace({"inspect", write(folder, kProgram), "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["module"], "small");
  ASSERT_EQ(json["functions"].size(), 2u);
  const Json& main = json["functions"][0];
  EXPECT_EQ(main["name"], "main");
  EXPECT_EQ(main["arguments"][0]["type"], "tensor<8x4xf32>");
  EXPECT_EQ(main["arguments"][0]["donated"], true);
  EXPECT_EQ(main["arguments"][0]["result"], 0);
  EXPECT_EQ(main["arguments"][1]["donated"], false);
  EXPECT_EQ(main["results"][0], "tensor<8x4xf32>");
  EXPECT_EQ(main["operations"]["stablehlo.dot_general"], 1);
  EXPECT_EQ(json["functions"][1]["operations"]["stablehlo.add"], 1);
  const Json& memory = json["memory"];
  EXPECT_EQ(memory["arguments"], 8 * 4 * 4 + 4 * 4 * 4);
  EXPECT_EQ(memory["results"], 8 * 4 * 4);
  const auto n = [&](const char* key) { return memory[key].get<std::int64_t>(); };
  EXPECT_EQ(n("peak"),
            n("arguments") + n("results") + n("temporaries") + n("constants") - n("reused"));
  const Outcome text = run_millrace({"inspect", folder.file("p.mlir")});
  EXPECT_THAT(text.out, HasSubstr("@main, public: 2 arguments, 1 result"));
  EXPECT_THAT(text.out, HasSubstr("donated, may become result 0"));
  EXPECT_THAT(text.out, HasSubstr("peak"));
}

TEST(InspectCommandTest, OpsOfARunAreSortedByTimeWithBytesAndArithmetic) {
  const Outcome o = run_millrace({"inspect", mnist_model() + "/grad_64.mlir", "--ops", "--repeat",
                                  "3", "--threads", "2", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["runs"], 3);
  EXPECT_GT(json["run_ms"].get<double>(), 0);
  double last = 1e9;
  double share = 0;
  bool convolution = false;
  for (const Json& op : json["ops"]) {
    EXPECT_LE(op["ms"].get<double>(), last);
    last = op["ms"].get<double>();
    share += op["share"].get<double>();
    if (op["name"] != "stablehlo.convolution forward") continue;
    convolution = true;
    // 64 rows: 28x28x1 to 24x24x10 by 5x5, then 12x12x10 to 8x8x20 by 5x5.
    EXPECT_EQ(op["count"], 2);
    EXPECT_DOUBLE_EQ(op["operations"].get<double>(),
                     2.0 * 64 * 25 * (24 * 24 * 1 * 10 + 8 * 8 * 10 * 20));
    EXPECT_GT(op["bytes"].get<std::int64_t>(), 64 * 24 * 24 * 10 * 4);
    EXPECT_GT(op["gflops_per_s"].get<double>(), 0);
  }
  EXPECT_TRUE(convolution) << o.out;
  EXPECT_NEAR(share, 1, 1e-9);
}

TEST(InspectCommandTest, OpsRunOnWhatIsGiven) {
  const TempFolder folder;
  const std::string file = write(folder, kProgram);
  const Outcome text = run_millrace({"inspect", file, "--ops", "--repeat", "1"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("GFLOP/s"));
  const Outcome missing = run_millrace({"inspect", file, "--ops", "--input", folder.file("x.npy")});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("takes 2 arguments"));
  const Outcome without = run_millrace({"inspect", file, "--repeat", "3"});
  EXPECT_EQ(without.code, 2);
}

TEST(InspectCommandTest, ProgramsThatAreWrongAreRejectedWithTheirPlace) {
  const TempFolder folder;
  const std::string file = write(folder, "module {\n  func.func @main() {\n    wrong\n  }\n}\n");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--ops"}}) {
    std::vector<std::string> words = {"inspect", file};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome o = run_millrace(words);
    EXPECT_EQ(o.code, 4);
    EXPECT_THAT(o.err, HasSubstr("p.mlir: 3:"));
  }
  EXPECT_EQ(run_millrace({"inspect", folder.file("none.mlir")}).code, 1);
}

// Its length is a prime: to plan it takes many seconds.
constexpr const char* kLongPlan = R"(
func.func @main(%x: tensor<16777213xcomplex<f32>>) -> tensor<16777213xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [16777213] : (tensor<16777213xcomplex<f32>>) -> tensor<16777213xcomplex<f32>>
  return %0 : tensor<16777213xcomplex<f32>>
})";

TEST(InspectCommandTest, DeadlineAndSignalEndItWhateverItIsDoing) {
  const TempFolder folder;
  const std::string file = write(folder, kLongPlan);
  const auto start = [&](const std::string& option, const std::string& limit) {
    std::vector<std::string> words = {"inspect", file, "--deadline", limit, option};
    if (option == "--svg") words.push_back(folder.file("p.svg"));
    return std::make_unique<testing::Process>(testing::millrace_command(words));
  };
  const auto there = [](const std::string& /*option*/, const Outcome& o) {
    return o.err.find("has not ended within 0.8 s of it") != std::string::npos;
  };
  for (const auto& [option, end] :
       testing::until_limit(0.5, {"--json", "--ops", "--svg"}, start, there)) {
    EXPECT_EQ(end.outcome.code, 124) << option << end.outcome.err;
    EXPECT_THAT(end.outcome.err,
                HasSubstr("--deadline " + end.limit + " came before " + file + " was inspected"));
    if (option == "--json") {
      EXPECT_EQ(Json::parse(end.outcome.out)["exit"], 124);
    }
  }
#if !defined(MILLRACE_TSAN)  // which runs a handler where a thread calls what it intercepts
  testing::Process process(testing::millrace_command({"inspect", file}));
  ASSERT_TRUE(process.wait_until_caught(SIGTERM));
  process.send(SIGTERM);
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 143) << o.err;
  EXPECT_THAT(o.err, HasSubstr("stopped on SIGTERM before " + file + " was inspected"));
#endif
}

TEST(InspectCommandTest, ADiskThatIsFullLeavesTheOldFileAndIsNoRejection) {
  const TempFolder folder;
  const std::string file = write(folder, "an old file\n");
  // A limit on the size of files stands for the full disk.
  for (const char* option : {"--write", "--svg"}) {
    testing::Process process({"/bin/sh", "-c",
                              "ulimit -f 1; exec '" + testing::build_folder() +
                                  "/bin/millrace' inspect '" + mnist_model() + "/grad_64.mlir' " +
                                  option + " '" + file + "'"});
    const Outcome& o = process.wait();
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_THAT(o.err, HasSubstr("writing " + file + ": File too large"));
    EXPECT_EQ(content(file), "an old file\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  }
}

TEST(EnvCommandTest, ReportsBuildMachineAndVariablesWithTheirOrigin) {
  const Outcome o = run_millrace({"env", "--json"}, {{"CPU_NUM_DEVICES", "3"}, {"TERM", ""}});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_THAT(json["version"].get<std::string>(), ::testing::StartsWith("0."));
  for (const char* library :
       {"libcrypto", "libuv", "oneDNN", "oneTBB", "protobuf", "spdlog", "zlib"}) {
    EXPECT_THAT(json["libraries"][library].get<std::string>(),
                ::testing::MatchesRegex("[0-9]+\\.[0-9.]+"))
        << library;
  }
  EXPECT_TRUE(json["libraries"].contains("libevent"));
  for (const char* part : {"lapack", "blas"}) {
    EXPECT_THAT(json["linear_algebra"][part].get<std::string>(), HasSubstr(".so")) << part;
  }
  EXPECT_GT(json["cpu"]["cores"], 0);
  EXPECT_GT(json["memory"]["total_bytes"], 1 << 20);
  EXPECT_EQ(json["devices"].size(), 3u);
  for (const Json& v : json["variables"]) {
    EXPECT_EQ(v["set"].get<bool>(), v["name"] == "CPU_NUM_DEVICES") << v;
  }
  const Outcome text = run_millrace({"env"}, {{"CPU_NUM_DEVICES", "3"}});
  EXPECT_THAT(text.out, HasSubstr("oneTBB 20"));
  EXPECT_THAT(text.out, HasSubstr("CPU_NUM_DEVICES   3"));
}

TEST(EnvCommandTest, ABadVariableIsReportedAndLeavesTheRest) {
  const Outcome o = run_millrace({"env"}, {{"CPU_NUM_DEVICES", "two"}});
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.out, HasSubstr("CPU_NUM_DEVICES is 'two'"));
  EXPECT_THAT(o.out, HasSubstr("libraries"));
}

TEST(EnvCommandTest, LeavesTheTraceOfMillraceTraceAlone) {
  const TempFolder folder;
  const std::string words = "a trace";
  const std::string file = folder.write("t", std::as_bytes(std::span(words)));
  EXPECT_EQ(run_millrace({"env"}, {{"MILLRACE_TRACE", file}}).code, 0);
  EXPECT_EQ(std::filesystem::file_size(file), words.size());
}

}  // namespace
}  // namespace millrace
