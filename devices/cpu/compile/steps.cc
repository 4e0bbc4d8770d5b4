#include "millrace/devices/cpu/compile/steps.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace millrace::devices::cpu::compiler {

StepList make_steps(std::vector<UnitKernel> kernels, const std::vector<UnitPlaces>& places,
                    std::vector<const OneDnnKernel*>& onednn) {
  StepList steps;
  for (std::size_t i = 0; i < places.size(); ++i) {
    UnitKernel& kernel = kernels[i];
    const UnitPlaces& at = places[i];
    const bool computes = kernel.run != nullptr || kernel.exchange.has_value();
    const auto add = [&](std::string name, StepFunction run, std::vector<BufferId> inputs,
                         std::vector<BufferId> outputs) -> Step& {
      Step& step = steps.emplace_back();
      step.info = {.name = std::move(name),
                   .line = kernel.location.line,
                   .column = kernel.location.column,
                   .position = at.position};
      step.run = std::move(run);
      step.inputs = std::move(inputs);
      step.outputs = std::move(outputs);
      return step;
    };
    if (!at.blocks.empty()) {
      auto control = std::make_unique<Control>();
      control->is_while = kernel.is_while;
      control->decider = at.decider;
      if (kernel.is_while) control->before = at.before;
      for (std::size_t b = 0; b < at.blocks.size(); ++b) {
        control->blocks.push_back(
            {make_steps(std::move(kernel.blocks[b]), at.blocks[b].units, onednn),
             at.blocks[b].after});
      }
      add(kernel.name, {}, {}, {}).control = std::move(control);
    } else {
      for (const Copy& copy : at.before) {
        const auto step = [bytes = copy.bytes](const StepFrame& f) {
          // Arrays of no elements may be null.
          if (bytes > 0 && f.out() != f.in()) std::memcpy(f.out(), f.in(), bytes);
        };
        add(computes ? "copy" : kernel.name, always(step), {copy.from}, {copy.to}).info.bytes =
            2 * copy.bytes;
      }
    }
    if (computes) {
      Step& step = add(kernel.name, std::move(kernel.run), at.inputs, at.outputs);
      step.exchange = kernel.exchange;
      step.info.scratch_bytes = kernel.needs.scratch_bytes;
      step.info.bytes = kernel.bytes;
      step.info.operations = kernel.operations;
      step.scratch = at.scratch;
      if (kernel.onednn != nullptr) {
        step.state = static_cast<int>(onednn.size());
        onednn.push_back(kernel.onednn.get());
        step.kernel = std::move(kernel.onednn);
      }
    }
    steps.back().outputs_written = at.outputs_written;
  }
  return steps;
}

}  // namespace millrace::devices::cpu::compiler
