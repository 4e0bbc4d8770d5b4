#include "millrace/devices/cpu/compile/emit.h"

#include <algorithm>
#include <cstring>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/compile/node_kernel.h"

namespace millrace::devices::cpu::compiler {

Result<PlanParts> emit(const Graph& graph, const PlanOptions& options,
                       const std::vector<int>& donors) {
  Emission all{.graph = graph, .options = options, .storage = Storage(graph)};
  PlanParts& made = all.made;
  Storage& storage = all.storage;
  for (ValueId v : graph.root.parameters) {
    const auto i = static_cast<int>(made.inputs.size());
    storage.set(v, storage.buffers.add(Home::kInput, i, storage.bytes(v)));
    made.inputs.push_back(graph.shape(v));
  }
  Surroundings around{.root = true};
  for (ValueId v : graph.root.results) {
    const auto i = static_cast<int>(made.outputs.size());
    around.wanted.push_back(storage.buffers.add(Home::kOutput, i, storage.bytes(v)));
    around.held.push_back(-1);
    made.outputs.push_back(graph.shape(v));
  }
  MILLRACE_TRY_STATUS(Emitter(all, graph.root, made.steps, around).run());
  made.aliases = storage.aliases(donors);
  made.arena_bytes = storage.buffers.assign_arena();
  made.buffers = std::move(storage.buffers);
  made.constants = std::move(storage.constants);
  made.constant_bytes = storage.constant_bytes;
  return std::move(made);
}

Emitter::Emitter(Emission& all, const Block& block, StepList& to, const Surroundings& around)
    : all_(all),
      graph_(all.graph),
      storage_(all.storage),
      block_(block),
      to_(to),
      root_(around.root),
      units_(make_units(graph_, storage_.owners, block, root_,
                        [this](ValueId owner) { return storage_.find(owner) >= 0; })),
      order_(order_units(graph_, storage_.owners, block, units_)),
      places_(storage_, graph_, block, units_, order_, around) {}

Status Emitter::run() {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    places_.begin(static_cast<int>(i));
    // Most of a compilation is here: oneDNN makes its kernels.
    if (all_.options.stop.stop_requested())
      return fail(ErrorCode::kCancelled, "stopped on request");
    MILLRACE_TRY_STATUS(emit_unit(units_.list[static_cast<std::size_t>(order_[i])]));
  }
  if (!root_) storage_.add_copies(units_.dense);
  return {};
}

Status Emitter::emit_unit(const Unit& unit) {
  storage_.buffers.advance();
  if (unit.result >= 0) {
    emit_result(unit.result);
    return {};
  }
  const std::size_t before = to_.size();
  if (unit.group >= 0) {
    MILLRACE_TRY_STATUS(emit_group(unit));
  } else if (unit.copy >= 0) {
    MILLRACE_TRY_STATUS(emit_copy(unit.copy));
  } else {
    MILLRACE_TRY_STATUS(emit_node(graph_.node(unit.node)));
  }
  MILLRACE_CHECK(to_.size() > before, "a unit without a step");
  count_work(graph_, storage_.owners, units_, unit, to_.back().info);
  if (!root_) return {};
  for (ValueId v : unit.writes) {
    const BufferId place = places_.wanted(v);
    if (place < 0) continue;
    const int output = storage_.buffers[place].index;
    // Not so for what a loop or a branch still changes there.
    if (storage_.owners.of(block_.results[static_cast<std::size_t>(output)]) == v)
      to_.back().outputs_written.push_back(output);
  }
  return {};
}

void Emitter::emit_result(int result) {
  const ValueId v = block_.results[static_cast<std::size_t>(result)];
  const BufferId from = storage_.of(v);
  const BufferId target = storage_.buffers.add(Home::kOutput, result, storage_.bytes(v));
  // A donated input may be returned as it is.
  storage_.write_output(target, from);
  add_copy("copy to output", {}, from, target, storage_.bytes(v)).outputs_written.push_back(result);
}

Status Emitter::emit_node(const Node& n) {
  if (n.kind == NodeKind::kWhile) return emit_while(n);
  if (n.kind == NodeKind::kCase) return emit_case(n);
  if (n.kind == NodeKind::kReduce && n.outputs.size() == 1 && n.region->kind &&
      graph_.shape(n.outputs[0]).elements() > 0 &&
      find_reduce_loops(*n.region->kind, graph_.shape(n.inputs[0]).dtype())) {
    return emit_permuted_reduce(n);
  }
  MILLRACE_TRY(NodeKernel kernel, kernel_of(graph_, n, all_.options, all_.made.choices));
  std::vector<BufferId> inputs, outputs;
  for (ValueId v : kernel.inputs) inputs.push_back(storage_.of(v));
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    outputs.push_back(i < kernel.updates ? take_or_copy(n, n.inputs[i], n.outputs[i])
                                         : places_.new_buffer(n.outputs[i]));
  }
  Step& step = add_step(std::move(kernel.name), n.location, std::move(kernel.run),
                        std::move(inputs), std::move(outputs), kernel.scratch_bytes);
  step.info.operations = kernel.operations;
  if (kernel.onednn == nullptr) return {};
  step.state = static_cast<int>(all_.made.kernels.size());
  all_.made.kernels.push_back(kernel.onednn.get());
  step.kernel = std::move(kernel.onednn);
  return {};
}

BufferId Emitter::take_or_copy(const Node& n, ValueId operand, ValueId output) {
  const BufferId from = storage_.of(operand);
  // Another operand that is a piece of this one would be overwritten before it is read.
  const bool alone = std::ranges::count_if(n.inputs, [&](ValueId v) {
                       return storage_.owners.of(v) == storage_.owners.of(operand);
                     }) == 1;
  if (alone && places_.may_become(operand, output)) {
    places_.set(output, from);
    return from;
  }
  const BufferId target = places_.new_buffer(output);
  // The copy is skipped when a donated input is the output: the step then updates it in place.
  if (alone) storage_.write_output(target, from);
  add_copy("copy", n.location, from, target, storage_.bytes(output));
  return target;
}

Step& Emitter::add_step(std::string name, ir::Location location, StepFunction run,
                        std::vector<BufferId> inputs, std::vector<BufferId> outputs,
                        std::size_t scratch_bytes) {
  Step& step = to_.emplace_back();
  step.info = {.name = std::move(name),
               .line = location.line,
               .column = location.column,
               .scratch_bytes = scratch_bytes,
               .position = storage_.buffers.now()};
  step.run = std::move(run);
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  if (scratch_bytes > 0) step.scratch = storage_.buffers.add(Home::kArena, 0, scratch_bytes);
  return step;
}

Step& Emitter::add_copy(std::string name, ir::Location location, BufferId from, BufferId to,
                        std::size_t bytes) {
  const auto copy = [bytes](const StepFrame& f) {
    // Arrays of no elements may be null.
    if (bytes > 0 && f.out() != f.in()) std::memcpy(f.out(), f.in(), bytes);
  };
  Step& step = add_step(std::move(name), location, always(copy), {from}, {to});
  step.info.bytes = 2 * bytes;
  return step;
}

}  // namespace millrace::devices::cpu::compiler
