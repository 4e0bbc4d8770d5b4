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
#include "tests/support/paths.h"

namespace millrace::devices::stablehlo::propagate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string hex_of(const std::string& bytes) {
  std::string out;
  char digits[3];
  for (const char c : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(c) & 0xFF);
    out += digits;
  }
  return out.empty() ? "-" : out;
}

std::string messages_of(const std::vector<sharding::Sharding>& shardings) {
  std::string out;
  for (const auto& sharding : shardings)
    out += (out.empty() ? "" : " ") + hex_of(sharding::to_op_sharding(sharding));
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

// What of a program lies elsewhere than XLA has it; "" if nothing does.
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
  ASSERT_GE(programs.size(), 98u);
  for (const Program& program : programs)
    EXPECT_EQ(difference(program), "") << program.name << "\n" << program.text;
}

// MILLRACE_SHARDED_PROGRAMS=FILE, which make_programs.py SEED COUNT writes.
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
}

}  // namespace
}  // namespace millrace::devices::stablehlo::propagate
