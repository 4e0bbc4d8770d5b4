#include "millrace/devices/cpu/compile/steps.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace millrace::devices::cpu::compiler {
namespace {

void run(const Copy& copy, const StepFrame& f) {
  // Arrays of no elements may be null.
  if (copy.bytes > 0 && f.at(copy.to) != f.at(copy.from))
    std::memcpy(f.at(copy.to), f.at(copy.from), copy.bytes);
}

// A nested block with the copies at its end.
struct InnerBlock {
  StepList steps;
  std::vector<Copy> after;

  Status run(const StepFrame& f) const {
    MILLRACE_TRY_STATUS(f.nested(steps));
    for (const Copy& copy : after) compiler::run(copy, f);
    return {};
  }
};

// An index out of range takes the last branch.
StepFunction control_function(bool is_while, std::vector<InnerBlock> inner, const UnitPlaces& at) {
  const auto blocks = std::make_shared<const std::vector<InnerBlock>>(std::move(inner));
  if (!is_while) {
    return [blocks, selector = at.decider](const StepFrame& f) -> Status {
      const std::int32_t index = *f.at<const std::int32_t>(selector);
      const auto last = static_cast<std::int32_t>(blocks->size()) - 1;
      return (*blocks)[static_cast<std::size_t>(index < 0 || index > last ? last : index)].run(f);
    };
  }
  return [blocks, before = at.before, proceeds = at.decider](const StepFrame& f) -> Status {
    for (const Copy& copy : before) run(copy, f);
    while (true) {
      MILLRACE_TRY_STATUS((*blocks)[0].run(f));
      if (*f.at<const std::uint8_t>(proceeds) == 0) return {};
      MILLRACE_TRY_STATUS((*blocks)[1].run(f));
    }
  };
}

}  // namespace

StepList make_steps(std::vector<UnitKernel> kernels, const std::vector<UnitPlaces>& places,
                    std::vector<const OneDnnKernel*>& onednn) {
  StepList steps;
  for (std::size_t i = 0; i < places.size(); ++i) {
    UnitKernel& kernel = kernels[i];
    const UnitPlaces& at = places[i];
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
      std::vector<InnerBlock> inner;
      for (std::size_t b = 0; b < at.blocks.size(); ++b) {
        inner.push_back({make_steps(std::move(kernel.blocks[b]), at.blocks[b].units, onednn),
                         at.blocks[b].after});
      }
      add(kernel.name, control_function(kernel.is_while, std::move(inner), at), {}, {});
    } else {
      for (const Copy& copy : at.before) {
        const auto step = [copy](const StepFrame& f) { run(copy, f); };
        add(kernel.run ? "copy" : kernel.name, always(step), {copy.from}, {copy.to}).info.bytes =
            2 * copy.bytes;
      }
    }
    if (kernel.run) {
      Step& step = add(kernel.name, std::move(kernel.run), at.inputs, at.outputs);
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
