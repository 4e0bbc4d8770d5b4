// The larger training steps of tools/models give JAX's losses.
#include "bench/step_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/child.h"

namespace millrace::bench {
namespace {

class StepModelStressTest : public ::testing::TestWithParam<const char*> {};

TEST_P(StepModelStressTest, LossesAreThoseOfJax) {
  const std::string folder = source_folder() + "/tools/models/" + GetParam();
  std::ifstream file(folder + "/golden.json");
  const auto golden = nlohmann::json::parse(file);
  StepModel model(folder, 2);
  ASSERT_EQ(golden["losses"].size(), 3U);
  for (std::size_t i = 0; i < golden["losses"].size(); ++i) {
    EXPECT_NEAR(model.step(), golden["losses"][i].get<double>(),
                golden["tolerances"][i].get<double>())
        << "step " << i;
  }
}

#ifdef MILLRACE_SANITIZED
const auto models = ::testing::Values("decoder");  // the other one takes minutes there
#else
const auto models = ::testing::Values("resnet18", "decoder");
#endif
INSTANTIATE_TEST_SUITE_P(Models, StepModelStressTest, models,
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace millrace::bench
