// Portable artifacts that JAX's own writer made: they read as the text that JAX's reader makes of
// them, and JAX reads them the same when we have written them again. make_artifacts.py makes them,
// check_artifacts.py reads ours; MILLRACE_ARTIFACTS names their folder.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "millrace/devices/stablehlo/bytecode/write_bytecode.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "tests/support/equal_modules.h"

namespace millrace::devices::stablehlo {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> artifacts() {
  std::vector<fs::path> found;
  const char* folder = std::getenv("MILLRACE_ARTIFACTS");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) return found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".bc") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

// Where two texts part, for the message.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream x(a);
  std::istringstream y(b);
  std::string p;
  std::string q;
  while (std::getline(x, p)) {
    if (!std::getline(y, q)) return "+ " + p;
    if (p != q) return "\n  bytecode " + p.substr(0, 300) + "\n  text     " + q.substr(0, 300);
  }
  return "the text is longer";
}

std::string problem_of(const fs::path& path) {
  const auto module = bytecode::read_bytecode(content(path));
  if (!module) return module.error().message();
  const auto expected = text::read_text(content(fs::path(path).replace_extension()));
  if (!expected) return "the text: " + expected.error().message();
  const std::string ours = ir::print(*module);
  const std::string theirs = ir::print(*expected);
  if (ours != theirs) return first_difference(ours, theirs);
  std::string why;
  return ir::equal(*module, *expected, &why) ? std::string() : why;
}

TEST(ReadArtifacts, JaxsArtifactsReadAsTheirText) {
  const std::vector<fs::path> all = artifacts();
  if (all.empty()) GTEST_SKIP() << "MILLRACE_ARTIFACTS names no folder of artifacts";
  std::size_t failed = 0;
  for (const fs::path& path : all) {
    const std::string problem = problem_of(path);
    if (problem.empty()) continue;
    if (++failed <= 20) std::cout << path.string() << ": " << problem << '\n';
  }
  EXPECT_EQ(failed, 0u) << "of " << all.size();
}

// Into the folder that MILLRACE_REWRITTEN names, for JAX to read again, if there is one.
Status keep(const fs::path& artifact, const std::string& bytes) {
  const char* folder = std::getenv("MILLRACE_REWRITTEN");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) return {};
  const fs::path path = fs::path(folder) / artifact.parent_path().filename() / artifact.filename();
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return file ? Status() : fail(ErrorCode::kUnavailable, "cannot write " + path.string());
}

// Written in the version of its folder, an artifact reads as the same module.
std::string rewriting_problem_of(const fs::path& path) {
  const auto module = bytecode::read_bytecode(content(path));
  if (!module) return module.error().message();
  const auto version = bytecode::version_from_string(path.parent_path().filename().string());
  const auto written = bytecode::write_bytecode(*module, version);
  if (!written) return "written: " + written.error().message();
  const auto again = bytecode::read_bytecode(*written);
  if (!again) return "again: " + again.error().message();
  std::string why;
  if (!ir::equal(*module, *again, &why)) return why;
  const Status kept = keep(path, *written);
  return kept ? std::string() : kept.error().message();
}

TEST(ReadArtifacts, JaxsArtifactsAreWrittenAgain) {
  const std::vector<fs::path> all = artifacts();
  if (all.empty()) GTEST_SKIP() << "MILLRACE_ARTIFACTS names no folder of artifacts";
  std::size_t failed = 0;
  for (const fs::path& path : all) {
    const std::string problem = rewriting_problem_of(path);
    if (problem.empty()) continue;
    if (++failed <= 20) std::cout << path.string() << ": " << problem << '\n';
  }
  EXPECT_EQ(failed, 0u) << "of " << all.size();
}

// What JAX has no artifacts of, for it to read ours: a scan in a scan, which reads values of all
// around it, and ragged dots.
constexpr struct {
  const char* name;
  const char* text;
} kOurs[] = {{"scans.mlir.bc", R"(
func.func @main(%a: tensor<3x2xf32>, %z: tensor<2xf32>, %far: tensor<2xf32>) -> tensor<3x2xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = "chlo.scan"(%a, %z) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>,
      resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
    %s = stablehlo.add %x, %far : tensor<2xf32>
    %in:2 = "chlo.scan"(%s, %one) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>,
        resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %all = stablehlo.reduce(%y init: %one) applies stablehlo.add across dimensions = [0]
          : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
      %t = stablehlo.multiply %all, %v : tensor<f32>
      stablehlo.return %t, %t : tensor<f32>, tensor<f32>
    }) : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
    stablehlo.return %in#0, %in#0 : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
  return %0#0 : tensor<3x2xf32>
})"},
             {"ragged_dots.mlir.bc", R"(
func.func @main(%a: tensor<5x2xf32>, %b: tensor<3x2x4xf32>, %c: tensor<2x4xf32>,
                %g: tensor<3xi32>) -> (tensor<5x4xf32>, tensor<3x5x4xf32>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers =
      #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<5x2xf32>, tensor<3x2x4xf32>, tensor<3xi32>) -> tensor<5x4xf32>
  %1 = "chlo.ragged_dot"(%a, %c, %g) <{ragged_dot_dimension_numbers =
      #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],
      lhs_ragged_dimensions = [1]>}>
      : (tensor<5x2xf32>, tensor<2x4xf32>, tensor<3xi32>) -> tensor<3x5x4xf32>
  return %0, %1 : tensor<5x4xf32>, tensor<3x5x4xf32>
})"}};

TEST(ReadArtifacts, OurArtifactsAreKeptForJax) {
  for (const auto& program : kOurs) {
    const auto module = text::read_text(program.text);
    ASSERT_TRUE(module.has_value()) << module.error().to_string();
    const auto written = bytecode::write_bytecode(*module);
    ASSERT_TRUE(written.has_value()) << written.error().to_string();
    const auto again = bytecode::read_bytecode(*written);
    ASSERT_TRUE(again.has_value()) << again.error().to_string();
    EXPECT_TRUE(keep(fs::path("ours") / program.name, *written).has_value());
  }
}

}  // namespace
}  // namespace millrace::devices::stablehlo
