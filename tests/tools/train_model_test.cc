#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "millrace/tools/train/model.h"
#include "tests/support/temp_folder.h"

namespace millrace::train {
namespace {

// What loading says of a model with this one program.
std::string error_of(std::string_view program) {
  testing::TempFolder folder;
  const std::string text =
      R"({"schema": 1, "model": {"name": "m", "classes": 2, "image_shape": [2, 2]}, "programs": [)" +
      std::string(program) + "]}";
  folder.write("manifest.json", std::as_bytes(std::span(text)));
  const std::string path = folder.file("manifest.json");
  const auto model = Model::load(path.substr(0, path.rfind('/')));
  if (model) return "";
  EXPECT_EQ(model.error().code(), ErrorCode::kInvalidArgument);
  return model.error().to_string();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ModelTest, MissingFieldIsNamedWithItsProgram) {
  const std::string error = error_of(R"({"name": "grad", "kind": "grad", "file": "g.mlir"})");
  EXPECT_TRUE(has(error, "program 'grad'")) << error;
  EXPECT_TRUE(has(error, "the field 'rows' is missing")) << error;
  EXPECT_TRUE(has(error, "manifest.json")) << error;
  EXPECT_FALSE(has(error, "json.exception")) << error;
}

TEST(ModelTest, UnknownWayToCombineIsRefused) {
  const std::string error = error_of(
      R"({"name": "grad", "kind": "grad", "rows": null, "file": "g.mlir", "inputs": [],
          "outputs": [{"name": "loss", "role": "loss", "shape": [], "dtype": "f32",
                       "combine": "max"}]})");
  EXPECT_TRUE(has(error, "array 'loss'")) << error;
  EXPECT_TRUE(has(error, "combine 'max' is not known here")) << error;
}

// A program with this one input.
std::string error_of_input(const std::string& fields) {
  return error_of(R"({"name": "p", "kind": "grad", "rows": null, "file": "g.mlir", "outputs": [],
                      "inputs": [{"name": "x", )" +
                  fields + "}]}");
}

TEST(ModelTest, UnknownRoleIsNamedWithThoseThatAreKnown) {
  const std::string error = error_of_input(R"("role": "weights", "shape": [2], "dtype": "f32")");
  EXPECT_TRUE(has(error, "array 'x'")) << error;
  EXPECT_TRUE(has(error, "role 'weights' is not known here; known: seed, param, ")) << error;
  EXPECT_TRUE(has(error, ", input, output")) << error;
}

TEST(ModelTest, WrongShapeOrDtypeIsNamedAlone) {
  const std::string dtype = error_of_input(R"("role": "images", "shape": [2], "dtype": "float32")");
  EXPECT_TRUE(
      has(dtype, "dtype 'float32' is not known here; known, as StableHLO spells them: i1, "))
      << dtype;
  EXPECT_TRUE(has(dtype, ", f32, f64, ")) << dtype;
  EXPECT_FALSE(has(dtype, "invalid")) << dtype;
  const std::string negative =
      error_of_input(R"("role": "images", "shape": [2, -1], "dtype": "f32")");
  EXPECT_TRUE(has(negative, "shape [2,-1] has a negative dimension")) << negative;
  const std::string many =
      error_of_input(R"("role": "images", "shape": [1,1,1,1,1,1,1,1,1,1,1,1,1], "dtype": "f32")");
  EXPECT_TRUE(has(many, "has more than 12 dimensions")) << many;
}

TEST(ModelTest, FolderWithoutAManifestIsNamedForEveryCommand) {
  const auto model = Model::load("/nowhere");
  ASSERT_FALSE(model);
  EXPECT_TRUE(has(model.error().message(), "; name the folder of a model"))
      << model.error().message();
  EXPECT_FALSE(has(model.error().message(), "--model")) << model.error().message();
}

TEST(ModelTest, FieldOfAWrongTypeIsNamedWithItsProgramAndArray) {
  const std::string error = error_of(
      R"({"name": "grad", "kind": "grad", "rows": null, "file": "g.mlir", "outputs": [],
          "inputs": [{"name": "x", "role": "images", "shape": "2x2", "dtype": "f32"}]})");
  EXPECT_TRUE(has(error, "program 'grad'")) << error;
  EXPECT_TRUE(has(error, "array 'x'")) << error;
  EXPECT_TRUE(has(error, "the field 'shape' may not be \"2x2\"")) << error;
  EXPECT_FALSE(has(error, "json.exception")) << error;
}

}  // namespace
}  // namespace millrace::train
