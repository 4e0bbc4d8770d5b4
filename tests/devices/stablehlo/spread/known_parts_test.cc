// What a manual computation gives goes to the devices as it is, where they want the same parts.
#include "millrace/devices/stablehlo/spread/known_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/sharding/read_sharding.h"
#include "tests/devices/stablehlo/spread/run_spread.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using sharding::Sharding;
using testing::Numbers;
using testing::PerDevice;

// Each device adds its number to its part, which it has by `lies`; results as `wanted`.
PerDevice add_numbers(const std::string& lies, const std::string& wanted, const PerDevice& inputs) {
  const std::string text =
      "sdy.mesh @mesh = <[\"a\"=2]>\n"
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "%r = sdy.manual_computation(%x) in_shardings=[" +
      lies + "] out_shardings=[" + lies +
      "] manual_axes={\"a\"} (%v: tensor<2xf32>) {\n"
      "%i = stablehlo.partition_id : tensor<ui32>\n"
      "%f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>\n"
      "%g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
      "%t = stablehlo.add %v, %g : tensor<2xf32>\nsdy.return %t : tensor<2xf32>\n"
      "} : (tensor<2xf32>) -> tensor<2xf32>\nreturn %r : tensor<2xf32>\n}\n";
  const auto module = text::read_text(text);
  EXPECT_TRUE(module && verify::verify(*module)) << text;
  const auto meshes = sharding::Meshes::of(*module).value();
  const Sharding in[] = {sharding::read_sharding("#sdy.sharding" + lies, meshes).value()};
  const Sharding out[] = {sharding::read_sharding("#sdy.sharding" + wanted, meshes).value()};
  const auto made = spread_global(*module, 2, {in, out});
  EXPECT_TRUE(made) << (made ? "" : made.error().to_string());
  return made ? testing::run_spread(*made, inputs) : PerDevice();
}

// As under XLA, although the program says that all devices have the same.
TEST(KnownPartsTest, EachDeviceKeepsItsOwnOfWhatOnlyShouldBeEqual) {
  EXPECT_EQ(add_numbers("<@mesh, [{}]>", "<@mesh, [{}]>", {{{5, 6}}, {{5, 6}}}),
            (PerDevice{{{5, 6}}, {{6, 7}}}));
}

TEST(KnownPartsTest, EachDeviceKeepsItsSummand) {
  const std::string parts = "<@mesh, [{}], unreduced={\"a\"}>";
  EXPECT_EQ(add_numbers(parts, parts, {{{1, 2}}, {{30, 40}}}), (PerDevice{{{1, 2}}, {{31, 41}}}));
  EXPECT_EQ(add_numbers(parts, "<@mesh, [{}]>", {{{1, 2}}, {{30, 40}}}),
            (PerDevice{{{32, 43}}, {{32, 43}}}));
}

TEST(KnownPartsTest, OtherPartsAreNotFound) {
  const auto module = text::read_text(
      "sdy.mesh @mesh = <[\"a\"=2]>\nsdy.mesh @other = <[\"a\"=2], device_ids=[1, 0]>\n"
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\nreturn %x : tensor<2xf32>\n}\n");
  const auto meshes = sharding::Meshes::of(*module).value();
  const auto read = [&](const std::string& text) {
    return sharding::read_sharding("#sdy.sharding" + text, meshes).value();
  };
  const ir::Block& body = module->find("main")->body().block();
  ir::Value* const whole = body.argument(0);
  ir::Value part0 = *whole, part1 = *whole;
  KnownParts known;
  known.add(whole, read("<@mesh, [{\"a\"}]>"), {&part0, &part1});
  EXPECT_EQ(known.find(whole, read("<@mesh, [{\"a\", ?}]>"), 1), &part1);
  EXPECT_EQ(known.find(whole, read("<@mesh, [{}]>"), 1), nullptr);
  EXPECT_EQ(known.find(whole, read("<@mesh, [{}], unreduced={\"a\"}>"), 1), nullptr);
  EXPECT_EQ(known.find(whole, read("<@other, [{\"a\"}]>"), 1), nullptr);
  EXPECT_EQ(known.find(&part0, read("<@mesh, [{\"a\"}]>"), 0), nullptr);
}

}  // namespace
}  // namespace millrace::devices::stablehlo::spread
