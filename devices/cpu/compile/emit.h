// emit: the last pass: the units of a simplified graph, in their order, become steps over buffers.
// emit.cc has blocks and single nodes, emit_loop.cc fused loops, emit_control.cc while and case.
// Read next: units.h (which steps there are), storage.h (where arrays lie), node_kernel.h (what a
// step runs).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/cpu/compile/storage.h"
#include "millrace/devices/cpu/compile/units.h"

namespace millrace::devices::cpu::compiler {

// Everything of a plan but donated. donors: as in Storage::aliases.
Result<PlanParts> emit(const Graph& graph, const PlanOptions& options,
                       const std::vector<int>& donors);

// What the blocks of a program share while they are emitted.
struct Emission {
  const Graph& graph;
  const PlanOptions& options;
  Storage storage;
  PlanParts made = {};
};

// What the unit's last step reads, writes and computes, where that is not known yet; those before
// it only lay out operands.
void count_work(const Graph& graph, const Owners& owners, const Units& units, const Unit& unit,
                StepInfo& info);
// Bytes that a fused loop moves: of each array as much as its views touch.
std::size_t bytes_of_loop(const Graph& graph, const Owners& owners, const LoopParts& loop);

// Emits one block. Thread-safety: external.
class Emitter {
 public:
  Emitter(Emission& all, const Block& block, StepList& to, const Surroundings& around);
  Status run();

 private:
  Status emit_unit(const Unit& unit);
  Status emit_node(const Node& n);
  void emit_result(int result);
  // The output's buffer: the operand's own if that dies here, else a new one that a step fills with
  // a copy.
  BufferId take_or_copy(const Node& n, ValueId operand, ValueId output);
  Step& add_step(std::string name, ir::Location location, StepFunction run,
                 std::vector<BufferId> inputs, std::vector<BufferId> outputs,
                 std::size_t scratch_bytes = 0);
  Step& add_copy(std::string name, ir::Location location, BufferId from, BufferId to,
                 std::size_t bytes);

  // emit_loop.cc
  Status emit_group(const Unit& unit);
  Status emit_copy(ValueId v);
  Status emit_permuted_reduce(const Node& n);
  // Decides which outputs overwrite inputs, and adds the step.
  Status add_loop(const LoopParts& loop, std::string name, ir::Location location);

  // emit_control.cc
  struct Move;
  std::vector<Move> moves_to(const std::vector<BufferId>& places,
                             const std::vector<ValueId>& values);
  BufferId place_branches(const Node& n, ValueId result, const std::set<ValueId>& around,
                          Surroundings& inside);
  Status emit_while(const Node& n);
  Status emit_case(const Node& n);

  Emission& all_;
  const Graph& graph_;
  Storage& storage_;
  const Block& block_;
  StepList& to_;
  const bool root_;
  const Units units_;
  const std::vector<int> order_;
  BlockStorage places_;
};

}  // namespace millrace::devices::cpu::compiler
