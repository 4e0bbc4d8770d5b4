// A network that PyTorch exported (tools/models/export_torch.py) gives what eager PyTorch gives, as
// text and as bytecode.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "millrace/transfer/formats/npy.h"
#include "tests/support/paths.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

class TorchProgramTest : public ::testing::TestWithParam<const char*> {};

TEST_P(TorchProgramTest, GivesWhatPyTorchGives) {
  const std::string folder = testing::source_folder() + "/tools/models/torch/";
  const testing::TempFolder out;
  const testing::Outcome run =
      testing::run_millrace({"run", folder + "forward." + GetParam(), "--inputs", folder + "inputs",
                             "--outputs", out.file("made")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto made = transfer::read_npy_file(out.file("made") + "/0.npy");
  const auto expected = transfer::read_npy_file(folder + "output.npy");
  ASSERT_TRUE(made) << made.error().to_string();
  ASSERT_TRUE(expected) << expected.error().to_string();
  ASSERT_EQ(made->shape(), expected->shape());
  const std::span<const float> a = made->as<float>();
  const std::span<const float> b = expected->as<float>();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Forms, TorchProgramTest, ::testing::Values("mlir", "mlirbc"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace millrace
