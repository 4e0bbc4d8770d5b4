// The memory of a program for whole arrays: eight devices need about what one needs.
#include <gtest/gtest.h>

#include <string>

#include "millrace/devices/cpu/compile/compile.h"

namespace millrace::devices::cpu {
namespace {

// Three layers over a batch. batch, weight: how these arguments lie.
std::string network(const std::string& head, const std::string& batch, const std::string& weight) {
  std::string text = "module @network " + head +
                     "  func.func public @main(%x: tensor<512x256xf32>" + batch +
                     ", %w0: tensor<256x512xf32>" + weight + ", %w1: tensor<512x512xf32>" + weight +
                     ", %w2: tensor<512x256xf32>" + weight + ") -> tensor<512x256xf32> {\n";
  const std::string width[] = {"256", "512", "512", "256"};
  std::string before = "%x";
  for (int layer = 0; layer < 3; ++layer) {
    const std::string n = std::to_string(layer), in = width[layer], out = width[layer + 1];
    text += "    %y" + n + " = stablehlo.dot_general " + before + ", %w" + n +
            ", contracting_dims = [1] x [0] : (tensor<512x" + in + "xf32>, tensor<" + in + "x" +
            out + "xf32>) -> tensor<512x" + out + "xf32>\n    %t" + n + " = stablehlo.tanh %y" + n +
            " : tensor<512x" + out + "xf32>\n";
    before = "%t" + n;
  }
  return text + "    return " + before + " : tensor<512x256xf32>\n  }\n}\n";
}

std::size_t memory_of(const std::string& text, int partitions) {
  CompileOptions options{.partitions = partitions};
  const auto compiled = compile(Program::from_text(text), options);
  EXPECT_TRUE(compiled) << compiled.error().to_string();
  if (!compiled) return 0;
  std::size_t bytes = (*compiled)->temporary_bytes();
  for (const Shape& shape : (*compiled)->inputs()) bytes += shape.size_bytes();
  for (const Shape& shape : (*compiled)->outputs()) bytes += shape.size_bytes();
  return bytes;
}

TEST(GlobalMemoryTest, EightDevicesNeedAboutWhatOneNeeds) {
  const std::size_t one = memory_of(network("{\n", "", ""), 1);
  const std::string head =
      "attributes {mhlo.num_partitions = 8 : i32} {\n  sdy.mesh @mesh = <[\"a\"=8]>\n";
  const auto lies = [](const char* dims) {
    return std::string(" {sdy.sharding = #sdy.sharding<@mesh, ") + dims + ">}";
  };
  const std::size_t batch_cut =
      memory_of(network(head, lies("[{\"a\"}, {}]"), lies("[{}, {}]")), 8);
  const std::size_t all_cut =
      memory_of(network(head, lies("[{\"a\"}, {}]"), lies("[{}, {\"a\"}]")), 8);
  EXPECT_LE(static_cast<double>(batch_cut), 1.3 * static_cast<double>(one));
  EXPECT_LE(static_cast<double>(all_cut), 1.3 * static_cast<double>(one))
      << one << " bytes on one device, " << all_cut << " on eight";
}

}  // namespace
}  // namespace millrace::devices::cpu
