// NodeKernel: the code that computes a node that is a step of its own. The node alone chooses it,
// before the places of its arrays are known. node_kernel.cc has all but those of dots and
// convolutions (contraction_kernel.cc). Read next: emit.h, which makes the step.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/cpu/kernels/contraction/contraction.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"

namespace millrace::devices::cpu::compiler {

struct NodeKernel {
  std::string name;  // of the step
  StepFunction run = {};
  std::size_t scratch_bytes = 0;
  std::vector<ValueId> inputs = {};  // what run finds as StepFrame::in
  // The first so many outputs hold the node's inputs of the same number, which run changes.
  std::size_t updates = 0;
  std::unique_ptr<OneDnnKernel> onednn = nullptr;
  double operations = 0;  // 0: not counted here
};

// The kernel of a node whose run cannot fail and reads the node's inputs.
template <class F>
NodeKernel simple_kernel(const Node& n, F run, std::size_t scratch_bytes = 0) {
  return {.name = std::string(n.name),
          .run = always(std::move(run)),
          .scratch_bytes = scratch_bytes,
          .inputs = n.inputs};
}

// The kernel of a node that is neither a loop's nor control flow. Convolutions take their choices
// from options or add what they measured to `choices`.
Result<NodeKernel> kernel_of(const Graph& graph, const Node& n, const PlanOptions& options,
                             KernelChoices& choices);

Result<NodeKernel> dot_kernel(const Graph& graph, const Node& n);
Result<NodeKernel> convolution_kernel(const Graph& graph, const Node& n, const PlanOptions& options,
                                      KernelChoices& choices);

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
