// The reader over real programs: StableHLO's own test data (1,397 files) and the exported models of
// tools/models.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/support/equal_modules.h"
#include "tests/support/paths.h"

namespace millrace::devices::stablehlo {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> programs_under(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".mlir") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Why the file does not survive reading, verification, printing and reading again; empty if it
// does.
std::string problem_of(const fs::path& path) {
  const auto module = text::read_text(content(path));
  if (!module) return module.error().message();
  if (module->functions().empty()) return "no function was read";
  const Status verdict = verify::verify(*module);
  if (!verdict) return "verify: " + verdict.error().message();
  const auto again = text::read_text(ir::print(*module));
  if (!again) return "as printed: " + again.error().message();
  std::string why;
  return ir::equal(*module, *again, &why) ? std::string() : "as printed: " + why;
}

std::size_t count_failures(const std::vector<fs::path>& programs) {
  std::size_t failed = 0;
  for (const fs::path& path : programs) {
    const std::string problem = problem_of(path);
    if (problem.empty()) continue;
    if (++failed <= 20) std::cout << path.filename().string() << ": " << problem << '\n';
  }
  return failed;
}

TEST(ReadConformance, StableHloTestDataIsReadVerifiedAndPrinted) {
  const auto programs =
      programs_under(fs::path(millrace::testing::shared_folder()) / "conformance" / "stablehlo");
  if (programs.empty())
    GTEST_SKIP() << "no programs under " << millrace::testing::shared_folder()
                 << "/conformance/stablehlo";
  EXPECT_GE(programs.size(), 1397u);
  EXPECT_EQ(count_failures(programs), 0u) << "of " << programs.size();
}

TEST(ReadConformance, ExportedModelsAreReadVerifiedAndPrinted) {
  const auto programs =
      programs_under(fs::path(millrace::testing::source_folder()) / "tools" / "models");
  if (programs.empty()) GTEST_SKIP() << "no programs under tools/models";
  EXPECT_EQ(count_failures(programs), 0u) << "of " << programs.size();
}

}  // namespace
}  // namespace millrace::devices::stablehlo
