// NodeKernel: what computes the results of a node that is a step of its own: chosen by the node
// alone, before anything is known of where its arrays lie. node_kernel.cc has all but those of dots
// and convolutions, which are in contraction_kernel.cc. Read next: emit.h, which makes the step.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/cpu/compile/step.h"

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

// The kernel of a node that is neither a loop's nor control flow. Convolutions take their choices
// from options or add what they measured to `choices`.
Result<NodeKernel> kernel_of(const Graph& graph, const Node& n, const PlanOptions& options,
                             KernelChoices& choices);

Result<NodeKernel> dot_kernel(const Graph& graph, const Node& n);
Result<NodeKernel> convolution_kernel(const Graph& graph, const Node& n, const PlanOptions& options,
                                      KernelChoices& choices);

}  // namespace millrace::devices::cpu::compiler
