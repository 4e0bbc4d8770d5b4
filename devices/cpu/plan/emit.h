// Emitter: turns a simplified Graph into steps and buffers. For each block: groups of fused nodes
// and single nodes become units; a unit comes as early as the outputs that need it; then each unit
// becomes a step. The parts: emit.cc (units, order, buffers), emit_loop.cc, emit_node.cc,
// emit_contraction.cc, emit_control.cc.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/plan/buffers.h"
#include "millrace/devices/cpu/plan/convolution_forms.h"
#include "millrace/devices/cpu/plan/fuse.h"
#include "millrace/devices/cpu/plan/graph.h"
#include "millrace/devices/cpu/plan/plan.h"
#include "millrace/devices/cpu/plan/view.h"

namespace millrace::devices::cpu::plan {

struct Emitted {
  BufferTable buffers;
  std::vector<std::shared_ptr<const std::byte[]>> constants;
  std::vector<const OneDnnKernel*> kernels;
  StepList steps;
  std::size_t constant_bytes = 0;
  std::vector<PlanAlias> aliases;
  KernelChoices choices;
};

class Emitter {
 public:
  // donors: per input, the output that it is donated to, -1 for none in particular, -2 for not
  // donated.
  Emitter(const Graph& graph, const PlanOptions& options, std::vector<int> donors)
      : graph_(graph),
        options_(options),
        donors_(std::move(donors)),
        storages_(graph.values.size(), -1) {}

  Result<Emitted> run();

 private:
  struct Unit {
    int group = -1;           // a fused loop,
    NodeId node = -1;         // or a node of its own,
    ValueId copy = -1;        // or the dense copy of a view, an iota or a splat,
    int result = -1;          // or the copy of a value to output `result`
    std::set<ValueId> reads;  // storages
    std::vector<ValueId> writes;
    double cost = 1;
  };
  // What the emission of one block keeps.
  struct BlockState {
    const Block& block;
    Uses uses;
    std::vector<Group> groups;
    std::vector<Unit> units;
    std::map<ValueId, int> writer;     // storage -> unit
    std::map<ValueId, int> last_read;  // storage -> place in the order of its last reader
    std::set<ValueId> dense;           // storages that are made
    std::set<ValueId>
        own;  // storages that steps of this block may overwrite when nobody reads them again
    bool root = false;
    int place = 0;
  };

  // emit.cc
  Status emit_block(const Block& block, StepList& to, bool root, const std::vector<ValueId>& own);
  void make_units(BlockState& s);
  void require(BlockState& s, ValueId v);
  void read(BlockState& s, Unit& unit, ValueId v);
  void read_view(BlockState& s, Unit& unit, ValueId v);
  void captured(const Block& inner, std::set<ValueId>& values) const;
  std::vector<int> schedule(const BlockState& s) const;
  Status emit_unit(BlockState& s, int unit, StepList& to);
  void count_work(const BlockState& s, const Unit& unit, StepInfo& info) const;
  ValueId storage(ValueId v) const;
  ValueId find_storage(ValueId v) const;
  BufferId buffer_of(ValueId v);
  BufferId new_buffer(BlockState& s, ValueId v);
  BufferId constant_buffer(const Node& node, const Shape& shape);
  void set_buffer(ValueId v, BufferId b) { value_buffers_[v] = b; }
  // The input whose bytes the output value may take over: nobody reads it after this unit. -1 if
  // there is none.
  bool dies_here(const BlockState& s, ValueId v) const;
  Step& add_step(StepList& to, const std::string& name, ir::Location location,
                 std::size_t scratch_bytes);
  std::size_t bytes(ValueId v) const { return graph_.shape(v).size_bytes(); }
  void find_aliases();

  // emit_loop.cc
  Status emit_group(BlockState& s, const Unit& unit, StepList& to);
  Status emit_copy(BlockState& s, ValueId v, StepList& to);
  Status emit_permuted_reduce(BlockState& s, const Node& n, StepList& to);
  struct LoopParts;
  Status add_loop(BlockState& s, LoopParts parts, StepList& to);

  // emit_node.cc
  Status emit_node(BlockState& s, const Node& n, StepList& to);
  void emit_pad(BlockState& s, const Node& n, StepList& to);
  void emit_concatenate(BlockState& s, const Node& n, StepList& to);
  void emit_dynamic_slice(BlockState& s, const Node& n, StepList& to);
  void emit_dynamic_update_slice(BlockState& s, const Node& n, StepList& to);
  void emit_gather(BlockState& s, const Node& n, StepList& to);
  void emit_scatter(BlockState& s, const Node& n, StepList& to);
  struct Variadic;
  Variadic variadic(BlockState& s, const Node& n);
  void emit_reduce(BlockState& s, const Node& n, StepList& to);
  void emit_reduce_window(BlockState& s, const Node& n, StepList& to);
  void emit_select_and_scatter(BlockState& s, const Node& n, StepList& to);
  void emit_sort(BlockState& s, const Node& n, StepList& to);
  void emit_reference(BlockState& s, const Node& n, StepList& to);
  // The output's buffer: the operand's own if that dies here, else a new one that a step fills with
  // a copy.
  BufferId take_or_copy(BlockState& s, const Node& n, ValueId operand, ValueId output,
                        StepList& to);

  // emit_contraction.cc
  Status emit_dot(BlockState& s, const Node& n, StepList& to);
  Status emit_convolution(BlockState& s, const Node& n, StepList& to);
  struct ChosenConvolution;
  Result<ChosenConvolution> choose_convolution(const std::vector<ConvolutionForm>& forms);

  // emit_control.cc
  // The storages that the node's blocks read and that are made outside of them.
  std::set<ValueId> storages_around(const Node& n) const;
  bool is_output_place(BufferId b, int output) const;
  void place_in_outputs(BlockState& s, const std::vector<int>& order);
  Status emit_while(BlockState& s, const Node& n, StepList& to);
  Status emit_case(BlockState& s, const Node& n, StepList& to);

  const Graph& graph_;
  const PlanOptions& options_;
  std::vector<int> donors_;
  mutable std::vector<ValueId> storages_;  // by value, what storage() found; -1: not asked yet
  Emitted out_;
  std::map<ValueId, BufferId> value_buffers_;                     // of storages
  std::map<std::pair<BufferId, std::size_t>, BufferId> aliases_;  // (buffer, offset) -> alias
  std::map<const std::byte*, BufferId> constants_;
  // Storage -> the output that it is made in: its value, or what a loop makes it of in place.
  std::map<ValueId, int> result_index_;
  // Per output: the position that first writes its buffer, and whether that step reads in place.
  // Per input: last read.
  std::map<int, int> input_last_read_, output_first_write_;
  std::set<std::pair<int, int>> in_place_;  // (output, input) of one loop, safe element by element
  std::set<std::pair<int, int>> clash_;     // (output, input) of one step, not safe
};

}  // namespace millrace::devices::cpu::plan
