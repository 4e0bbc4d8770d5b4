// Where the arrays of a program lie, as text: a line for each unit, with its nested blocks below.
#include "millrace/devices/cpu/compile/placement.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/devices/cpu/compile/lower.h"
#include "millrace/devices/stablehlo/text/read_text.h"

namespace millrace::devices::cpu::compiler {
namespace {

// A program up to the pass that places its arrays.
struct Program {
  explicit Program(const std::string& text)
      : module(stablehlo::text::read_text(text).value()),
        graph(lower(module, module.functions().front()).value()),
        owners((simplify(graph), graph)),
        units(make_units(graph, owners)) {
    KernelChoices choices;
    kernels = choose_kernels(graph, owners, units, {.deterministic = true}, choices).value();
  }
  Placement placed(int donor = -2) const {
    return place(graph, owners, units, kernels,
                 std::vector<int>(graph.root.parameters.size(), donor));
  }

  ir::Module module;
  Graph graph;
  Owners owners;
  Units units;
  std::vector<UnitKernel> kernels;
};

// Writes places as "input 0", "arena 64" (where it begins), "output 1+8" (a piece of it).
class Writer {
 public:
  explicit Writer(const BufferTable& buffers) : buffers_(buffers) {}

  std::string write(const std::vector<UnitKernel>& kernels, const std::vector<UnitPlaces>& places,
                    const std::string& indent = "") const {
    std::string text;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const UnitPlaces& at = places[i];
      text += write(at.before, indent) + indent + kernels[i].name + ":" + write(at.inputs) + " ->" +
              write(at.outputs);
      if (at.scratch >= 0) text += ", scratch" + write({at.scratch});
      if (at.decider >= 0) text += ", decided by" + write({at.decider});
      for (const int output : at.outputs_written) text += ", writes " + std::to_string(output);
      text += "\n";
      for (std::size_t b = 0; b < at.blocks.size(); ++b) {
        text +=
            indent + " block\n" + write(kernels[i].blocks[b], at.blocks[b].units, indent + "  ");
        text += write(at.blocks[b].after, indent + "  ");
      }
    }
    return text;
  }

 private:
  std::string write(const std::vector<BufferId>& list) const {
    static constexpr const char* kHomes[] = {"arena", "input", "output", "constant"};
    std::string text;
    for (const BufferId b : list) {
      const Buffer& root = buffers_.root(b);
      const std::size_t inside = buffers_.inside_root(b);
      text += (text.empty() ? " " : ", ") +
              std::string(kHomes[static_cast<std::size_t>(root.home)]) + " " +
              std::to_string(root.home == Home::kArena ? root.offset
                                                       : static_cast<std::size_t>(root.index)) +
              (inside > 0 ? "+" + std::to_string(inside) : "");
    }
    return text;
  }
  std::string write(const std::vector<Copy>& copies, const std::string& indent) const {
    std::string text;
    for (const Copy& copy : copies) {
      text += indent + "copy " + std::to_string(copy.bytes) + ":" + write({copy.from}) + " ->" +
              write({copy.to}) + "\n";
    }
    return text;
  }

  const BufferTable& buffers_;
};

std::string text_of(const Program& program, const Placement& placed) {
  return "\n" + Writer(placed.buffers).write(program.kernels, placed.units);
}

std::string places_of(const std::string& text, int donor = -2) {
  const Program program(text);
  return text_of(program, program.placed(donor));
}

// Three units: a product, a loop, a product, of elements whose small products take no scratch.
constexpr const char* kThree = R"(
func.func @main(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  %0 = stablehlo.dot %x, %x : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %1 = stablehlo.negate %0 : tensor<4x4xbf16>
  %2 = stablehlo.dot %1, %1 : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %2 : tensor<4x4xbf16>
})";

TEST(PlacementTest, ALoopIsMadeOverAnArrayThatItReadsLast) {
  EXPECT_EQ(places_of(kThree), R"(
stablehlo.dot: input 0, input 0 -> arena 0
stablehlo.negate: arena 0 -> arena 0
stablehlo.dot: arena 0, arena 0 -> output 0, writes 0
)");
}

TEST(PlacementTest, WhatAKernelMayNotOverwriteHasAPlaceOfItsOwn) {
  Program program(kThree);
  program.kernels[1].needs.overwrites.clear();
  EXPECT_EQ(text_of(program, program.placed()), R"(
stablehlo.dot: input 0, input 0 -> arena 0
stablehlo.negate: arena 0 -> arena 64
stablehlo.dot: arena 64, arena 64 -> output 0, writes 0
)");
}

TEST(PlacementTest, ScratchIsFreeBeforeAndAfterItsUnit) {
  Program program(kThree);
  for (UnitKernel& kernel : program.kernels) kernel.needs.scratch_bytes = 64;
  const Placement placed = program.placed();
  EXPECT_EQ(text_of(program, placed), R"(
stablehlo.dot: input 0, input 0 -> arena 64, scratch arena 0
stablehlo.negate: arena 64 -> arena 64, scratch arena 0
stablehlo.dot: arena 64, arena 64 -> output 0, scratch arena 0, writes 0
)");
  EXPECT_EQ(placed.arena_bytes, 128u);
}

TEST(PlacementTest, AnUpdateIsMadeInPlaceOrAfterACopy) {
  EXPECT_EQ(places_of(R"(
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = stablehlo.slice %x [0:2] : (tensor<4xf32>) -> tensor<2xf32>
  %1 = stablehlo.negate %0 : tensor<2xf32>
  %2 = stablehlo.dynamic_update_slice %x, %1, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  %3 = stablehlo.dynamic_update_slice %2, %0, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  return %3, %0 : tensor<4xf32>, tensor<2xf32>
})"),
            R"(
copy 8: input 0 -> output 1
copy to output: ->, writes 1
stablehlo.negate: input 0 -> arena 64
copy 16: input 0 -> arena 0
stablehlo.dynamic_update_slice: arena 64, input 1 -> arena 0
copy 16: arena 0 -> output 0
stablehlo.dynamic_update_slice: input 0, input 1 -> output 0, writes 0
)");
}

// The initial value is read when the loop has written its elements.
TEST(PlacementTest, ALoopIsNotMadeOverAnArrayThatHoldsItsInitialValue) {
  EXPECT_EQ(places_of(R"(
func.func @main(%x: tensor<4x4xbf16>) -> (tensor<4x4xbf16>, tensor<4xbf16>) {
  %0 = stablehlo.dot %x, %x : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %1 = stablehlo.negate %0 : tensor<4x4xbf16>
  %2 = stablehlo.slice %0 [0:1, 0:1] : (tensor<4x4xbf16>) -> tensor<1x1xbf16>
  %3 = stablehlo.reshape %2 : (tensor<1x1xbf16>) -> tensor<bf16>
  %4 = stablehlo.reduce(%1 init: %3) applies stablehlo.add across dimensions = [0] : (tensor<4x4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %5 = stablehlo.dot %1, %1 : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %5, %4 : tensor<4x4xbf16>, tensor<4xbf16>
})"),
            R"(
stablehlo.dot: input 0, input 0 -> arena 64
fused loop of 2: arena 64, arena 64 -> arena 128, output 1, scratch arena 0, writes 1
stablehlo.dot: arena 128, arena 128 -> output 0, writes 0
)");
}

TEST(PlacementTest, CarriedValuesThatChangePlacesGoThroughOneOfTheirOwn) {
  EXPECT_EQ(places_of(R"(
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0:2 = stablehlo.while(%x = %a, %y = %b) : tensor<f32>, tensor<f32>
    cond {
      %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      stablehlo.return %y, %x : tensor<f32>, tensor<f32>
    }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
})"),
            R"(
copy 4: input 0 -> output 0
copy 4: input 1 -> output 1
stablehlo.while: ->, decided by arena 0, writes 0, writes 1
 block
  stablehlo.compare: output 0, output 1 -> arena 0
 block
  copy 4: output 1 -> arena 0
  copy 4: output 0 -> arena 64
  copy 4: arena 0 -> output 0
  copy 4: arena 64 -> output 1
)");
}

TEST(PlacementTest, BranchesMakeAResultWhereItIsRead) {
  EXPECT_EQ(places_of(R"(
func.func @main(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})"),
            R"(
stablehlo.case: ->, decided by input 0, writes 0
 block
  stablehlo.negate: input 1 -> output 0
 block
  copy 16: input 1 -> output 0
)");
}

TEST(PlacementTest, ADonatedInputIsTheOutputThatIsWrittenOnceItIsRead) {
  const Program program(kThree);
  EXPECT_TRUE(program.placed().aliases.empty());
  const std::vector<OutputAlias> aliases = program.placed(-1).aliases;
  ASSERT_EQ(aliases.size(), 1u);
  EXPECT_EQ(aliases[0].input, 0);
  EXPECT_EQ(aliases[0].output, 0);
}

}  // namespace
}  // namespace millrace::devices::cpu::compiler
