// A small model folder for tests: y = x * scale, for rows of two floats, in sizes of the test's
// choice.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "millrace/transfer/formats/safetensors.h"
#include "tests/support/temp_folder.h"

namespace millrace::testing {

// y = x * scale, for rows of two floats.
inline std::string scale_program(int rows) {
  const std::string rows_type = "tensor<" + std::to_string(rows) + "x2xf32>";
  return "func.func @main(%s: tensor<2xf32>, %x: " + rows_type + ") -> " + rows_type +
         " {\n  %0 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> " + rows_type +
         "\n  %1 = stablehlo.multiply %x, %0 : " + rows_type + "\n  return %1 : " + rows_type +
         "\n}\n";
}

inline std::string program_json(int rows, const std::string& more = "") {
  const std::string n = std::to_string(rows);
  return R"({"name":"p)" + n + R"(","kind":"predict","rows":)" + n + R"(,"file":"p)" + n +
         R"(.mlir",)" + more +
         R"("inputs":[{"name":"scale","role":"param","shape":[2],"dtype":"f32"},)"
         R"({"name":"x","role":"input","shape":[)" +
         n + R"(,2],"dtype":"f32"}],"outputs":[{"name":"y","role":"output","shape":[)" + n +
         R"(,2],"dtype":"f32"}]})";
}

inline void write_text(const TempFolder& folder, const std::string& name, const std::string& text) {
  folder.write(name, std::as_bytes(std::span(text)));
}

inline void write_model(const TempFolder& folder, std::vector<int> sizes = {1, 4}) {
  std::string programs;
  for (const int rows : sizes) {
    write_text(folder, "p" + std::to_string(rows) + ".mlir", scale_program(rows));
    programs += (programs.empty() ? "" : ",") + program_json(rows);
  }
  write_text(folder, "manifest.json",
             R"({"schema":1,"model":{"name":"scaler"},"programs":[)" + programs + "]}");
}

inline void write_weights(const std::string& path, const std::string& name,
                          std::vector<float> values) {
  const transfer::NamedArray array{
      .name = name,
      .shape = devices::Shape(devices::DType::kF32, {static_cast<std::int64_t>(values.size())}),
      .bytes = std::as_bytes(std::span(values))};
  ASSERT_TRUE(transfer::write_safetensors_file(path, std::span(&array, 1)));
}

}  // namespace millrace::testing
