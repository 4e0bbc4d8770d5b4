#include "millrace/devices/stablehlo/propagate/propagate.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/core/base/read_file.h"
#include "millrace/devices/stablehlo/sharding/op_sharding.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "tests/support/hex_of.h"
#include "tests/support/paths.h"

namespace millrace::devices::stablehlo::propagate {
namespace {

using ::testing::HasSubstr;

std::string messages_of(const std::vector<sharding::Sharding>& shardings) {
  std::string out;
  for (const auto& sharding : shardings)
    out += (out.empty() ? "" : " ") + millrace::testing::hex_of(sharding::to_op_sharding(sharding));
  return out;
}

// A program of programs.mlir, and where XLA lays its arguments and results.
struct Program {
  std::string name, text;
  std::vector<std::string> told;
};

std::vector<Program> read_programs(const std::string& path) {
  std::istringstream lines(*read_file(path));
  std::vector<Program> out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// ")) {
      out.push_back({line.substr(3), {}, {}});
    } else if (line.starts_with("//> ")) {
      out.back().told.push_back(line.substr(4));
    } else if (!out.empty()) {
      out.back().text += line + "\n";
    }
  }
  return out;
}

std::string folder() {
  return millrace::testing::source_folder() + "/tests/devices/stablehlo/propagate/";
}

// What of a program lies elsewhere than XLA has it (PR-2: right it is anyway); "" if nothing does.
std::string difference(const Program& program) {
  const auto module = text::read_text(program.text);
  if (!module) return module.error().message();
  const auto made = shardings_of_main(*module, {{true}, {true}});
  if (!made) return made.error().message();
  std::string words;
  const auto compare = [&](const char* what, const auto& shardings, const std::string& told) {
    const std::string messages = messages_of(shardings);
    if (messages == told) return;
    words += what;
    for (const auto& sharding : shardings) words += " " + to_string(sharding);
    words += "\n  " + messages + "\n  XLA: " + told + "\n";
  };
  compare("arguments", made->arguments, program.told[0]);
  compare("results", made->results, program.told[1]);
  return words;
}

TEST(Propagate, ResultsLieWhereXlaLaysThem) {
  const auto programs = read_programs(folder() + "programs.mlir");
  ASSERT_GE(programs.size(), 110u);
  for (const Program& program : programs)
    EXPECT_EQ(difference(program), "") << program.name << "\n" << program.text;
}

// One function @main on the mesh ["a"=2, "b"=4] of two arguments and a result, all of them
// tensor<8x16xf32>.
std::string shardings_in(const std::string& first, const std::string& second,
                         const std::string& result, const std::string& body,
                         const MayChoose& may_choose = {{true}, {true}}) {
  const auto attribute = [](const std::string& sharding) {
    return sharding.empty() ? "" : " {sdy.sharding = #sdy.sharding<@mesh, " + sharding + ">}";
  };
  const auto module = text::read_text(
      "module {\n sdy.mesh @mesh = <[\"a\"=2, \"b\"=4]>\n func.func @main(%a: tensor<8x16xf32>" +
      attribute(first) + ", %b: tensor<8x16xf32>" + attribute(second) + ") -> (tensor<8x16xf32>" +
      attribute(result) + ") {\n" + body + "\n }\n}");
  if (!module) return "not read: " + module.error().message();
  const auto made = shardings_of_main(*module, may_choose);
  if (!made) return made.error().message();
  std::string out;
  for (const auto* list : {&made->arguments, &made->results}) {
    for (const auto& sharding : *list)
      out += (out.empty() ? "" : " ") + to_string(sharding).substr(8);
  }
  return out;
}

constexpr const char* kAdd =
    "%0 = stablehlo.add %a, %b : tensor<8x16xf32>\n return %0 : tensor<8x16xf32>";

// PR-1
TEST(Propagate, WhatIsGivenAndClosedStays) {
  EXPECT_EQ(shardings_in(R"([{"a"}, {}])", R"([{}, {"b"}])", R"([{"b"}, {}])", kAdd),
            R"([{"a"}, {}]> [{}, {"b"}]> [{"b"}, {}]>)");
}

TEST(Propagate, WhatMayNotBeChosenIsReplicated) {
  const std::string given = R"([{"a"}, {"b"}])", open;
  EXPECT_EQ(shardings_in(given, open, open, kAdd), given + "> " + given + "> " + given + ">");
  EXPECT_EQ(shardings_in(given, open, open, kAdd, {{false}, {true}}),
            given + "> [{}, {}]> " + given + ">");
  EXPECT_EQ(shardings_in(given, open, open, kAdd, {}), given + "> [{}, {}]> [{}, {}]>");
  EXPECT_EQ(shardings_in(given, open, open, kAdd, {{false, true}, {false}}),
            given + "> " + given + "> [{}, {}]>");
}

TEST(Propagate, NothingPassesABarrierAgainstItsDirection) {
  const auto through = [](const std::string& direction, const std::string& argument,
                          const std::string& result) {
    return shardings_in(argument, "[{}, {}]", result,
                        "%0 = sdy.propagation_barrier %a allowed_direction=" + direction +
                            " : tensor<8x16xf32>\n return %0 : tensor<8x16xf32>");
  };
  const std::string cut = R"([{"a"}, {}]>)", whole = " [{}, {}]> ";
  EXPECT_EQ(through("FORWARD", R"([{"a"}, {}])", ""), cut + whole + cut);
  EXPECT_EQ(through("BACKWARD", R"([{"a"}, {}])", ""), cut + whole + "[{}, {}]>");
  EXPECT_EQ(through("BACKWARD", "", R"([{"a"}, {}])"), cut + whole + cut);
  EXPECT_EQ(through("NONE", "", R"([{"a"}, {}])"), "[{}, {}]>" + whole + cut);
}

TEST(Propagate, ACallPassesOnWhatItsRuleSays) {
  const auto call = [](const std::string& rule) {
    return shardings_in(R"([{"a"}, {"b"}])", "[{}, {}]", "",
                        "%0 = stablehlo.custom_call @f(%a) {" + rule +
                            "} : (tensor<8x16xf32>) -> tensor<8x16xf32>\n return %0 : "
                            "tensor<8x16xf32>");
  };
  const std::string given = R"([{"a"}, {"b"}]> [{}, {}]> )";
  EXPECT_EQ(call(""), given + "[{}, {}]>");
  EXPECT_EQ(call("sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=16, "
                 "k=16}, custom>"),
            given + R"([{"a"}, {}]>)");
  EXPECT_EQ(call("sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16} "
                 "blocked_propagation={i}, custom>"),
            given + R"([{}, {"b"}]>)");
  EXPECT_THAT(call("sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>"),
              HasSubstr("4:6: stablehlo.custom_call: its sharding rule"));
}

TEST(Propagate, WhatIsWrittenWronglyIsAnErrorWithItsPlace) {
  EXPECT_THAT(shardings_in(R"([{"x"}, {}])", "", "", kAdd),
              HasSubstr("argument 0 of @main: the sharding #sdy.sharding<@mesh, [{\"x\"}, {}]>: "));
  EXPECT_EQ(
      shardings_in("", R"([{"a"}])", "", kAdd),
      "argument 1 of @main: the sharding <@mesh, [{\"a\"}]> has 1 dimensions, and the value is "
      "tensor<8x16xf32>");
  EXPECT_THAT(shardings_in("", "", R"([{"a"}, {"a"}])", kAdd),
              HasSubstr("result 0 of @main: the sharding"));
  EXPECT_THAT(shardings_in("", "", "",
                           "%0 = sdy.sharding_constraint %a <@other, [{}, {}]> : "
                           "tensor<8x16xf32>\n return %0 : tensor<8x16xf32>"),
              HasSubstr("4:6: sdy.sharding_constraint: the sharding #sdy.sharding<@other"));
}

TEST(Propagate, ArraysOnOneDeviceSpreadNothing) {
  const auto module = text::read_text(R"(module {
  sdy.mesh @mesh = <["a"=2]>
  sdy.mesh @one = <[], device_ids=[1]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, []>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    %1 = stablehlo.abs %b : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
})");
  ASSERT_TRUE(module) << module.error().message();
  const auto made = shardings_of_main(*module, {{true}, {true}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(to_string(made->arguments[0]), "<@one, []>");
  EXPECT_EQ(to_string(made->results[0]), "<@mesh, [{}]>");
  EXPECT_EQ(to_string(made->results[1]), R"(<@mesh, [{"a"}]>)");
}

// Each function calls the one before it twice.
TEST(Propagate, CallsThatStandForMuchEnd) {
  std::string text = "module {\n sdy.mesh @mesh = <[\"a\"=2]>\n";
  text +=
      "func.func private @f0(%a: tensor<8xf32>) -> tensor<8xf32> { return %a : tensor<8xf32> }\n";
  for (int i = 1; i < 40; ++i) {
    const std::string call = "call @f" + std::to_string(i - 1);
    text += "func.func private @f" + std::to_string(i) +
            "(%a: tensor<8xf32>) -> tensor<8xf32> {\n %0 = " + call +
            "(%a) : (tensor<8xf32>) -> tensor<8xf32>\n %1 = " + call +
            "(%0) : (tensor<8xf32>) -> tensor<8xf32>\n return %1 : tensor<8xf32>\n}\n";
  }
  text +=
      "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n %0 = call @f39(%a) : "
      "(tensor<8xf32>) -> tensor<8xf32>\n return %0 : tensor<8xf32>\n}\n}";
  const auto module = text::read_text(text);
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_TRUE(shardings_of_main(*module, {{true}, {true}}));
}

// MILLRACE_SHARDED_PROGRAMS=FILE, which make_programs.py SEED COUNT writes. Where operations want
// different things any answer is right, so a few may differ.
TEST(Propagate, RandomProgramsLieWhereXlaLaysThem) {
  const char* path = std::getenv("MILLRACE_SHARDED_PROGRAMS");
  if (path == nullptr) GTEST_SKIP() << "MILLRACE_SHARDED_PROGRAMS is not set";
  int same = 0, all = 0;
  for (const Program& program : read_programs(path)) {
    const std::string why = difference(program);
    ++all;
    same += why.empty() ? 1 : 0;
    if (!why.empty()) std::printf("%s: %s\n", program.name.c_str(), why.c_str());
  }
  std::printf("%d of %d programs alike\n", same, all);
  EXPECT_GT(all, 0);
  EXPECT_GE(same * 100, all * 98);
}

}  // namespace
}  // namespace millrace::devices::stablehlo::propagate
