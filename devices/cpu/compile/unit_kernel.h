// UnitKernel: the code that computes a unit, and what it asks of memory. It is chosen before any
// array has its place. unit_kernel.cc walks the units and has loops and copies, node_kernel.cc the
// nodes that are a step of their own, but for dots and convolutions (contraction_kernel.cc);
// count_work.cc counts. Read next: placement.h, which answers what a kernel asks.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/cpu/compile/units.h"
#include "millrace/devices/cpu/kernels/contraction/contraction.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"

namespace millrace::devices::cpu::compiler {

// What a kernel asks of memory.
struct Needs {
  std::vector<ValueId> inputs = {};   // what run finds as StepFrame::in
  std::vector<ValueId> outputs = {};  // what it finds as StepFrame::out
  std::vector<ValueId> updated = {};  // what the first outputs hold before run changes them
  std::size_t scratch_bytes = 0;
  // A loop may write an output over an input, each element after its last read, if no other input
  // lies in the same memory.
  struct Overwrite {
    std::size_t output, input;
  };
  std::vector<Overwrite> overwrites = {};
};

struct UnitKernel {
  std::string name;  // of the step
  ir::Location location = {};
  Needs needs = {};
  StepFunction run = {};  // none for control flow, and where copying the result is all
  std::unique_ptr<OneDnnKernel> onednn = nullptr;
  std::size_t bytes = 0;  // as in StepInfo; both 0 until they are counted
  double operations = 0;
  std::vector<std::vector<UnitKernel>> blocks = {};  // of control flow
  bool is_while = false;  // its blocks are a condition and a body; else they are branches
  std::optional<Exchange> exchange = {};  // in place of run
};

// The kernels of the root's units, in their order. Convolutions take their choices from options or
// add what they measured to `choices`. Most of a compilation is here: oneDNN makes its kernels.
Result<std::vector<UnitKernel>> choose_kernels(const Graph& graph, const Owners& owners,
                                               const Units& units, const PlanOptions& options,
                                               KernelChoices& choices);

// The kernel of a node whose run cannot fail and reads the node's inputs.
template <class F>
UnitKernel simple_kernel(const Node& n, F run, std::size_t scratch_bytes = 0) {
  return {.name = std::string(n.name),
          .location = n.location,
          .needs = {.inputs = n.inputs, .outputs = n.outputs, .scratch_bytes = scratch_bytes},
          .run = always(std::move(run))};
}

// The kernel of a node that is neither a loop's nor control flow.
Result<UnitKernel> node_kernel(const Graph& graph, const Node& n, const PlanOptions& options,
                               KernelChoices& choices);
Result<UnitKernel> dot_kernel(const Graph& graph, const Node& n);
Result<UnitKernel> convolution_kernel(const Graph& graph, const Node& n, const PlanOptions& options,
                                      KernelChoices& choices);

// What the unit's kernel reads, writes and computes, where that is not known yet.
void count_work(const Graph& graph, const Owners& owners, const Units& units, const Unit& unit,
                UnitKernel& kernel);

// convolution_forms.cc: which oneDNN primitive a StableHLO convolution is: a forward convolution,
// or one of its two gradients as JAX writes them. The weights' gradient is a convolution with batch
// and features exchanged, the input's gradient one with a dilated input and reversed weights.
enum class WeightsUse : std::uint8_t {
  kAsTheyAre,
  kBeforeReverse,  // what the rhs was before the reverse that made it
  kReverseFirst,   // the rhs, with its spatial dimensions reversed by a copy
};

struct ConvolutionForm {
  ConvolutionSpec spec;
  WeightsUse weights = WeightsUse::kAsTheyAre;
};

// The forms that give the result, the most promising first; none if only the plain loops can.
// reversed: the rhs is a reverse of all spatial dimensions of something that is at hand.
std::vector<ConvolutionForm> convolution_forms(const ConvolutionDims& dims, const Shape& lhs,
                                               const Shape& rhs, const Shape& result,
                                               bool reversed);

}  // namespace millrace::devices::cpu::compiler
