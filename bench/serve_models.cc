#include "bench/serve_models.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "bench/figure.h"
#include "millrace/transfer/formats/npy.h"
#include "millrace/transfer/formats/safetensors.h"

namespace millrace::bench {
namespace {

using devices::DType;
using devices::Shape;

constexpr int kWidth = 1024, kLayers = 16, kFeatures = 64;
constexpr int kPixels = 784, kHidden = 512, kClasses = 10;

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) give_up("writing a model", path);
}

std::string type(const std::string& dims, const std::string& element) {
  return "tensor<" + dims + "x" + element + ">";
}
std::string tensor(const std::string& name, const std::string& role, const std::string& shape,
                   const std::string& dtype) {
  return R"({"name":")" + name + R"(","role":")" + role + R"(","shape":[)" + shape +
         R"(],"dtype":")" + dtype + R"("})";
}
std::string program(const std::string& rows, const std::string& inputs,
                    const std::string& outputs) {
  return R"({"name":"p)" + rows + R"(","kind":"predict","rows":)" + rows + R"(,"file":"p)" + rows +
         R"(.mlir","inputs":[)" + inputs + R"(],"outputs":[)" + outputs + "]}";
}
void write_manifest(const std::string& folder, const std::string& name,
                    const std::vector<std::string>& programs) {
  std::string list;
  for (const std::string& one : programs) list += (list.empty() ? "" : ",") + one;
  write(folder + "/manifest.json",
        R"({"schema":1,"model":{"name":")" + name + R"("},"programs":[)" + list + "]}");
}

// Uniform within the limit, in the order of the shapes.
void write_weights(const std::string& folder,
                   const std::vector<std::pair<std::string, Shape>>& shapes, float limit) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-limit, limit);
  std::vector<std::vector<float>> values;
  std::vector<transfer::NamedArray> arrays;
  for (const auto& [name, shape] : shapes) {
    values.emplace_back(shape.size_bytes() / sizeof(float));
    for (float& value : values.back()) value = uniform(random);
    arrays.push_back({.name = name, .shape = shape});
  }
  for (std::size_t i = 0; i < arrays.size(); ++i)
    arrays[i].bytes = std::as_bytes(std::span(values[i]));
  if (!transfer::write_safetensors_file(folder + "/weights.safetensors", arrays))
    give_up("writing weights", folder);
}

// A model of images as the demo's: text gives the program for so many rows, weights are its first
// inputs.
void write_image_model(const std::string& folder, const std::string& name,
                       const std::string& weights,
                       const std::function<std::string(const std::string&)>& text) {
  std::filesystem::create_directory(folder);
  std::vector<std::string> programs;
  for (const std::string rows : {"1", "4", "16", "64"}) {
    write(folder + "/p" + rows + ".mlir", text(rows));
    programs.push_back(program(rows, weights + tensor("images", "images", rows + ",28,28", "ui8"),
                               tensor("log_probs", "log_probs", rows + ",10", "f32")));
  }
  write_manifest(folder, name, programs);
}

std::string nothing_program(const std::string& rows) {
  const std::string out = type(rows + "x10", "f32");
  return "func.func @main(%images: " + type(rows + "x28x28", "ui8") + ") -> " + out +
         " {\n  %0 = stablehlo.constant dense<0.0> : " + out + "\n  return %0 : " + out + "\n}\n";
}

// "left x right" as an operation with its types.
std::string product(const std::string& name, const std::string& left, const std::string& right,
                    const std::string& types) {
  return "  " + name + " = stablehlo.dot_general " + left + ", " + right +
         ", contracting_dims = [1] x [0] : " + types + "\n";
}

std::string dense_program(const std::string& rows) {
  const std::string pixels = std::to_string(kPixels), hidden = std::to_string(kHidden),
                    classes = std::to_string(kClasses);
  const std::string first = type(pixels + "x" + hidden, "f32");
  const std::string second = type(hidden + "x" + classes, "f32");
  const std::string images = type(rows + "x28x28", "ui8"), values = type(rows + "x28x28", "f32");
  const std::string x = type(rows + "x" + pixels, "f32"), h = type(rows + "x" + hidden, "f32");
  const std::string y = type(rows + "x" + classes, "f32");
  return "func.func @main(%first: " + first + ", %second: " + second + ", %images: " + images +
         ") -> " + y + " {\n  %0 = stablehlo.convert %images : (" + images + ") -> " + values +
         "\n  %1 = stablehlo.reshape %0 : (" + values + ") -> " + x + "\n" +
         product("%2", "%1", "%first", "(" + x + ", " + first + ") -> " + h) +
         "  %3 = stablehlo.constant dense<0.0> : " + h +
         "\n  %4 = stablehlo.maximum %2, %3 : " + h + "\n" +
         product("%5", "%4", "%second", "(" + h + ", " + second + ") -> " + y) +
         "  return %5 : " + y + "\n}\n";
}

void write_dense(const std::string& folder) {
  write_image_model(
      folder, "dense",
      tensor("first", "param", std::to_string(kPixels) + "," + std::to_string(kHidden), "f32") +
          "," +
          tensor("second", "param", std::to_string(kHidden) + "," + std::to_string(kClasses),
                 "f32") +
          ",",
      &dense_program);
  write_weights(folder,
                {{"first", Shape(DType::kF32, {kPixels, kHidden})},
                 {"second", Shape(DType::kF32, {kHidden, kClasses})}},
                0.05F);
}

std::string large_program(const std::string& rows) {
  const std::string first = type(std::to_string(kFeatures) + "x" + std::to_string(kWidth), "f32");
  const std::string next = type(std::to_string(kWidth) + "x" + std::to_string(kWidth), "f32");
  const std::string x = type(rows + "x" + std::to_string(kFeatures), "f32");
  const std::string y = type(rows + "x" + std::to_string(kWidth), "f32");
  std::string text = "func.func @main(%first: " + first + ", %next: " + next + ", %x: " + x +
                     ") -> " + y + " {\n" +
                     product("%0", "%x", "%first", "(" + x + ", " + first + ") -> " + y);
  for (int i = 1; i <= kLayers; ++i) {
    text += product("%" + std::to_string(i), "%" + std::to_string(i - 1), "%next",
                    "(" + y + ", " + next + ") -> " + y);
  }
  return text + "  return %" + std::to_string(kLayers) + " : " + y + "\n}\n";
}

void write_large(const std::string& folder) {
  std::filesystem::create_directory(folder);
  const std::string width = std::to_string(kWidth), features = std::to_string(kFeatures);
  std::vector<std::string> programs;
  for (const int size : {1, 4, kLargeBatch}) {
    const std::string rows = std::to_string(size);
    write(folder + "/p" + rows + ".mlir", large_program(rows));
    programs.push_back(program(rows,
                               tensor("first", "param", features + "," + width, "f32") + "," +
                                   tensor("next", "param", width + "," + width, "f32") + "," +
                                   tensor("x", "input", rows + "," + features, "f32"),
                               tensor("y", "output", rows + "," + width, "f32")));
  }
  write_manifest(folder, "large", programs);
  // The limit is such that the products neither grow nor vanish.
  write_weights(folder,
                {{"first", Shape(DType::kF32, {kFeatures, kWidth})},
                 {"next", Shape(DType::kF32, {kWidth, kWidth})}},
                0.054F);
}

}  // namespace

ServeModels::ServeModels() {
  std::string path = std::filesystem::temp_directory_path() / "millrace-serve-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) give_up("making a folder for models", path);
  folder_ = path;
  write_demo_weights();
  write_dense(file("dense"));
  write_image_model(file("nothing"), "nothing", "", &nothing_program);
  write_large(file("large"));
}

ServeModels::~ServeModels() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string ServeModels::demo_folder() { return source_folder() + "/tools/models/mnist"; }

Words ServeModels::demo() const {
  return {"demo=" + demo_folder(), "--checkpoint", "demo=" + demo_weights()};
}

void ServeModels::write_demo_weights() const {
  std::vector<devices::HostArray> kept;
  std::vector<transfer::NamedArray> arrays;
  for (const auto& entry : std::filesystem::directory_iterator(demo_folder() + "/golden/final")) {
    Result<devices::HostArray> array = transfer::read_npy_file(entry.path().string());
    if (!array) give_up("the demo's weights", array.error().to_string());
    arrays.push_back(
        {.name = entry.path().stem(), .shape = array->shape(), .bytes = array->bytes()});
    kept.push_back(*std::move(array));
  }
  if (!transfer::write_safetensors_file(demo_weights(), arrays))
    give_up("the demo's weights", demo_weights());
}

}  // namespace millrace::bench
