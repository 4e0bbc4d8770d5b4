// Plan: a compiled program: steps in order, one arena for everything that lives in between,
// constants, and which outputs may take over the bytes of which inputs. Made from verified ir; run
// by run_context.h with a RunContext.
//
// The way: lower (ir -> Graph) -> simplify -> per block: units (fused groups and single nodes) ->
// their order -> storage -> steps. A plan never writes an input but one that the program donates
// and that the caller passes as the output's buffer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/compile/buffers.h"
#include "millrace/devices/cpu/compile/step.h"
#include "millrace/devices/cpu/compiled.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu {

namespace ir = stablehlo::ir;

struct PlanOptions {
  // No choices by timing: the same bits from every compilation of a program.
  bool deterministic = false;
  std::string function = "main";  // the only function if there is just one
  std::stop_token stop;           // asked to stop, the next step is not made: kCancelled
  // What an earlier compilation of the same program with the same options chose: nothing is
  // measured. What does not fit the program is kDataLoss.
  std::optional<KernelChoices> chosen;
};

// What a plan is made of.
struct PlanParts {
  std::vector<Shape> inputs, outputs;
  std::vector<int> donated;
  std::vector<OutputAlias> aliases;
  compiler::BufferTable buffers;
  std::vector<std::shared_ptr<const std::byte[]>> constants;
  std::vector<const OneDnnKernel*> kernels;  // by Step::state
  StepList steps;
  KernelChoices choices;
  std::size_t arena_bytes = 0, constant_bytes = 0;
};

// Thread-safety: immutable.
class Plan final : public Compiled {
 public:
  // kUnimplemented with "line:column: op: ..." for what the CPU device does not run.
  static Result<std::unique_ptr<Plan>> create(const ir::Module& module, const PlanOptions& options);

  std::span<const Shape> inputs() const override { return parts_.inputs; }
  std::span<const Shape> outputs() const override { return parts_.outputs; }
  std::span<const int> donated() const override { return parts_.donated; }
  std::span<const OutputAlias> aliases() const override { return parts_.aliases; }
  std::size_t temporary_bytes() const override { return parts_.arena_bytes; }
  Result<std::unique_ptr<CompiledRun>> make_run() const override;    // a RunContext
  KernelChoices choices() const override { return parts_.choices; }  // for PlanOptions::chosen
  // The constants that all runs share.
  std::size_t constant_bytes() const { return parts_.constant_bytes; }
  // Inputs, outputs, arena and constants together.
  std::size_t peak_bytes() const;

  const StepList& steps() const { return parts_.steps; }
  int states() const { return static_cast<int>(parts_.kernels.size()); }
  // The kernel behind state i.
  const OneDnnKernel& kernel(int i) const { return *parts_.kernels[static_cast<std::size_t>(i)]; }
  const compiler::BufferTable& buffers() const { return parts_.buffers; }
  const std::byte* constant(int i) const {
    return parts_.constants[static_cast<std::size_t>(i)].get();
  }

 private:
  explicit Plan(PlanParts parts) : parts_(std::move(parts)) {}

  const PlanParts parts_;
};

// JAX marks a donated argument with the output that it may become, or as free for any of them.
std::vector<int> donated_arguments(const ir::Function& function);

}  // namespace millrace::devices::cpu
