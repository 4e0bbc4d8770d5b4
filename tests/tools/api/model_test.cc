// A served model on the CPU device, with real threads: what is loaded, what it computes, what is
// refused.
#include "millrace/tools/api/model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/tools/api/model_weights.h"
#include "millrace/transfer/batcher.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/serve/scaler_model.h"

namespace millrace {
namespace {

using devices::DType;
using devices::Shape;
using millrace::testing::scale_program;
using millrace::testing::TempFolder;
using millrace::testing::write_model;
using millrace::testing::write_text;
using millrace::testing::write_weights;

class ServedModelTest : public ::testing::Test {
 protected:
  static RuntimeOptions options() {
    RuntimeOptions options;
    options.devices = 2;
    options.threads = 2;
    return options;
  }
  ServedModelTest() : runtime_(Runtime::create(options())) {}
  Result<Model> load(ModelSource source) {
    return wait_blocking(Model::load(*runtime_, std::move(source)));
  }
  std::string error_of(ModelSource source, ErrorCode code) {
    const Result<Model> model = load(std::move(source));
    if (model) return "it was loaded";
    EXPECT_EQ(model.error().code(), code) << model.error().to_string();
    return model.error().message();
  }

  TempFolder folder_;
  Result<Runtime> runtime_;
};

transfer::RowInput row(std::vector<float> values) {
  auto kept = std::make_shared<std::vector<float>>(std::move(values));
  devices::HostView view;
  view.data = kept->data();
  view.shape = Shape(DType::kF32, {static_cast<std::int64_t>(kept->size() / 2), 2});
  view.owner = kept;
  return {.name = "x", .view = view};
}

std::vector<float> values_of(const transfer::RowOutputs& rows) {
  const auto span = rows.at(0).array.as<float>();
  return {span.begin(), span.end()};
}

TEST_F(ServedModelTest, AModelWithItsOwnWeightsAnswersThroughABatcher) {
  ASSERT_TRUE(runtime_);
  write_model(folder_);
  write_weights(folder_.file("weights.safetensors"), "scale", {2, 3});
  const Result<Model> model = load({.folder = folder_.path()});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(model->name(), "scaler");
  EXPECT_EQ(model->weights_bytes(), 8U);
  EXPECT_TRUE(wait_blocking(model->warm_up()));
  const auto batcher = transfer::Batcher::create(
      runtime_->actors(), {.devices = {runtime_->device(0), runtime_->device(1)}});
  ASSERT_TRUE(batcher);
  ASSERT_TRUE(batcher->add(model->batches()));
  std::vector<Future<transfer::RowOutputs>> answers;
  for (int i = 0; i < 50; ++i) {
    const auto x = static_cast<float>(i);
    answers.push_back(batcher->run("scaler", {row({x, x, 1, x})}));
  }
  for (int i = 0; i < 50; ++i) {
    const auto x = static_cast<float>(i);
    const auto rows = wait_blocking(answers[static_cast<std::size_t>(i)]);
    ASSERT_TRUE(rows) << rows.error().to_string();
    EXPECT_EQ(values_of(*rows), (std::vector<float>{2 * x, 3 * x, 2, 3 * x}));
  }
  EXPECT_TRUE(wait_blocking(batcher->close()));
}

TEST_F(ServedModelTest, WeightsThatAreGivenGoOverThoseOfTheFolderAndMayHaveTheNamesOfACheckpoint) {
  write_model(folder_);
  write_weights(folder_.file("weights.safetensors"), "scale", {2, 3});
  write_weights(folder_.file("other.safetensors"), "param/scale", {5, 7});
  const Result<Model> model = load({.folder = folder_.path(),
                                    .name = "mine",
                                    .weights = folder_.file("other.safetensors"),
                                    .sizes = {4}});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(model->name(), "mine");
  EXPECT_EQ(model->batches()->most_rows(), 4);
  const auto array =
      wait_blocking(runtime_->device(1).fetch(model->batches()->constants(1).front().buffer));
  ASSERT_TRUE(array);
  EXPECT_EQ(array->as<float>()[1], 7);
}

TEST_F(ServedModelTest, ANewVersionTakesOverTheProgramsThatAreAsTheyWere) {
  ASSERT_TRUE(runtime_);
  write_model(folder_);
  write_weights(folder_.file("weights.safetensors"), "scale", {2, 3});
  const Result<Model> first = load({.folder = folder_.path()});
  ASSERT_TRUE(first) << first.error().to_string();
  write_weights(folder_.file("weights.safetensors"), "scale", {5, 7});
  const Result<Model> second = wait_blocking(first->reload(*runtime_, {.folder = folder_.path()}));
  ASSERT_TRUE(second) << second.error().to_string();
  const auto program = [](const Model& model, std::int64_t rows) {
    return model.batches()->program(0, rows).executable.body();
  };
  const std::vector<std::int64_t> sizes = first->batches()->sizes().front();
  for (const std::int64_t size : sizes) EXPECT_EQ(program(*first, size), program(*second, size));
  EXPECT_TRUE(wait_blocking(second->warm_up()));
  const auto array =
      wait_blocking(runtime_->device(0).fetch(second->batches()->constants(0).front().buffer));
  ASSERT_TRUE(array);
  EXPECT_EQ(array->as<float>()[1], 7);
  const std::string path = first->manifest().programs.front().path;
  std::ofstream(path, std::ios::app) << "\n";
  const Result<Model> third = wait_blocking(second->reload(*runtime_, {.folder = folder_.path()}));
  ASSERT_TRUE(third) << third.error().to_string();
  int same = 0;
  for (const std::int64_t size : sizes) same += program(*second, size) == program(*third, size);
  EXPECT_EQ(same, static_cast<int>(sizes.size()) - 1) << path;
}

TEST_F(ServedModelTest, WhatDoesNotFitIsRefusedWithTheFileAndWhatWouldHelp) {
  write_model(folder_);
  const std::string folder = folder_.path();
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of({.folder = folder + "/none"}, ErrorCode::kNotFound), "none/manifest.json");
  has(error_of({.folder = folder}, ErrorCode::kNotFound), "weights.safetensors");
  write_weights(folder_.file("weights.safetensors"), "other", {2, 3});
  has(error_of({.folder = folder}, ErrorCode::kInvalidArgument), "no array 'param/scale'");
  write_weights(folder_.file("weights.safetensors"), "scale", {2, 3, 4});
  has(error_of({.folder = folder}, ErrorCode::kInvalidArgument),
      "'scale' is tensor<3xf32>, and program 'p1' takes tensor<2xf32>");
  write_weights(folder_.file("weights.safetensors"), "scale", {2, 3});
  has(error_of({.folder = folder, .sizes = {2}}, ErrorCode::kNotFound), "it has 1, 4");
  write_text(folder_, "p4.mlir", scale_program(3));
  has(error_of({.folder = folder}, ErrorCode::kInvalidArgument),
      "input 'x' of the program is tensor<3x2xf32>, not tensor<4x2xf32>");
  write_text(folder_, "p4.mlir", "func.func");
  has(error_of({.folder = folder}, ErrorCode::kInvalidArgument), "p4.mlir");
}

TEST_F(ServedModelTest, TheNewestCheckpointIsTheOneWithTheHighestNumber) {
  for (const char* name : {"step-00000009", "step-00000010", "step-00000099.part", "other"})
    std::filesystem::create_directory(folder_.file(name));
  EXPECT_EQ(newest_checkpoint(folder_.path()).value(), "step-00000010");
  EXPECT_NE(open_weights(folder_.file("other")).error().message().find("has no checkpoint"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace
