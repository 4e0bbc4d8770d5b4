// A program for plugins, which every one of them compiles: x + 1 on four floats.
#pragma once

namespace millrace::testing {

inline constexpr const char* kPlusOne = R"(module @plus_one {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
    %1 = stablehlo.add %x, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
})";

}  // namespace millrace::testing
