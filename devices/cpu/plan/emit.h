// Emitter: turns a simplified Graph into steps and buffers. For each block: groups of fused nodes
// and single nodes become units; a unit comes as early as the outputs that need it; then each unit
// becomes a step. The parts: emit.cc (blocks, buffers), emit_units.cc (units and their order),
// emit_loop.cc, emit_node.cc, emit_contraction.cc, emit_control.cc, emit_work.cc (what steps do).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
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
  // A loop before it is a step: the spec, the buffers that it names and the values that it makes.
  struct LoopParts {
    LoopSpec spec;
    std::vector<BufferId> buffers;
    // Per input of the loop: the stored value that it reads, -1 for an iota.
    std::vector<ValueId> sources;
    std::vector<ValueId> results;  // per output
    std::string name;
    ir::Location location;

    int buffer(BufferId b);
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
    // Storage -> the buffer that it is made in, where that is free then: that of an output of the
    // program or of a branch's result. Who is, or was last, in such a buffer.
    std::map<ValueId, BufferId> places;
    std::map<BufferId, ValueId> holders;
    bool root = false;
    int unit = -1, place = 0;
  };
  // What surrounds a block: storages that it may overwrite, and per result the buffer where it is
  // wanted (none: anywhere) and the storage that is there already, -1 if none is.
  struct Surroundings {
    bool root = false;
    std::vector<ValueId> own = {};
    std::vector<BufferId> wanted = {};
    std::vector<ValueId> held = {};
  };

  // emit.cc
  Status emit_block(const Block& block, StepList& to, const Surroundings& around);
  Status emit_unit(BlockState& s, int unit, StepList& to);
  // A view that a block has made dense is there while it runs: what comes after it, or another
  // branch, makes its own. before: how many of copies_inside_ there were.
  void forget_copies(std::size_t before);
  ValueId storage(ValueId v) const;
  ValueId find_storage(ValueId v) const;
  BufferId buffer_of(ValueId v);
  // Where v is made: where it is wanted if that is free, else anywhere. new_buffer: by this step.
  BufferId new_place(BlockState& s, ValueId v);
  BufferId new_buffer(BlockState& s, ValueId v);
  BufferId constant_buffer(const Node& node, const Shape& shape);
  void set_buffer(BlockState& s, ValueId v, BufferId b);
  // Whether what is in the place is read for the last time before this unit.
  bool is_free(const BlockState& s, BufferId place) const;
  // The step at hand begins to write b, which is what input was, unless that is -1: each element
  // after its last read.
  void write_output(BufferId b, int input = -1);
  // What was first written there since `begin` is seen no more.
  void end_writes(const std::vector<BufferId>& places, int begin);
  // Whether output may be made over all of v's bytes, an element of v being read before it.
  bool may_become(const BlockState& s, ValueId v, ValueId output);
  // Whether steps of this block may overwrite v, which nobody reads after this unit.
  bool dies_here(const BlockState& s, ValueId v) const;
  Step& add_step(StepList& to, const std::string& name, ir::Location location,
                 std::size_t scratch_bytes);
  std::size_t bytes(ValueId v) const { return graph_.shape(v).size_bytes(); }
  void find_aliases();

  // emit_units.cc
  void make_units(BlockState& s);
  void place_results(BlockState& s, const std::vector<BufferId>& wanted);
  void require(BlockState& s, ValueId v);
  void read(BlockState& s, Unit& unit, ValueId v);
  void read_view(BlockState& s, Unit& unit, ValueId v);
  void captured(const Block& inner, std::set<ValueId>& values) const;
  std::vector<int> schedule(const BlockState& s) const;

  // emit_work.cc
  // Of a fused loop: of each array as much as its views touch.
  std::size_t bytes_of_loop(const LoopParts& parts) const;
  void count_work(const BlockState& s, const Unit& unit, StepInfo& info) const;

  // emit_loop.cc
  Status emit_group(BlockState& s, const Unit& unit, StepList& to);
  Status emit_copy(BlockState& s, ValueId v, StepList& to);
  Status emit_permuted_reduce(BlockState& s, const Node& n, StepList& to);
  Status add_loop(BlockState& s, LoopParts parts, StepList& to);

  // emit_node.cc
  bool does_nothing(const Node& n) const;
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
  // What a result may be made of in place: that operand of a while, those captured by a case.
  std::vector<ValueId> origins(const Node& n, ValueId result,
                               const std::set<ValueId>& around) const;
  struct Moves;
  Moves moves_to(const std::vector<BufferId>& places, const std::vector<ValueId>& values);
  BufferId place_branches(BlockState& s, const Node& n, ValueId result,
                          const std::set<ValueId>& around, Surroundings& inside);
  void place_operands(BlockState& s, const std::vector<int>& order);
  Status emit_while(BlockState& s, const Node& n, StepList& to);
  Status emit_case(BlockState& s, const Node& n, StepList& to);

  const Graph& graph_;
  const PlanOptions& options_;
  std::vector<int> donors_;
  mutable std::vector<ValueId> storages_;  // by value, what storage() found; -1: not asked yet
  Emitted out_;
  std::map<ValueId, BufferId> value_buffers_;                     // of storages
  std::vector<ValueId> copies_inside_;                            // of blocks that are not the root
  std::map<std::pair<BufferId, std::size_t>, BufferId> aliases_;  // (buffer, offset) -> alias
  std::map<const std::byte*, BufferId> constants_;
  // Per output of the program: the times, from and until, when it is not what it was before the
  // run. Per input: when it is read.
  std::map<int, std::vector<std::pair<int, int>>> output_written_;
  std::map<int, std::set<int>> input_reads_;
  // (output, input, time): the input is read as the output is first written, safe element by
  // element.
  std::set<std::tuple<int, int, int>> in_place_;
};

}  // namespace millrace::devices::cpu::plan
