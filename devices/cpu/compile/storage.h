// Storage: the state of place() on its way: where the values lie by now, in inputs, outputs,
// constants or the arena. It notes when each buffer is written and read last, and so knows what the
// next unit may overwrite. Read next: buffers.h.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/compile/buffers.h"
#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/compile/units.h"

namespace millrace::devices::cpu::compiler {

// The storage of the whole program. Thread-safety: external.
class Storage {
 public:
  Storage(const Graph& graph, const Owners& all) : owners(all), graph_(graph) {}

  const Owners& owners;
  BufferTable buffers;
  std::vector<ValueId> constants;  // by Buffer::index

  std::size_t bytes(ValueId v) const { return graph_.shape(v).size_bytes(); }
  void set(ValueId owner, BufferId b) { stored_[owner] = b; }
  // -1: it is not stored yet.
  BufferId find(ValueId owner) const;
  // The buffer of v, which the unit at hand uses.
  BufferId of(ValueId v);
  // A view that a block has made dense is valid inside the block: later code, or another branch,
  // makes its own.
  void erase(const std::set<ValueId>& dense) {
    for (ValueId owner : dense) stored_.erase(owner);
  }

  // The unit at hand begins to write b; where `from` is an input, b may be that input's memory,
  // each element of which is written after its last read.
  void write_output(BufferId b, BufferId from = -1);
  // Values first written there since `begin` are no longer read.
  void end_writes(const std::vector<BufferId>& places, int begin);
  // Which outputs may take over which inputs. donors: per input, the output that it is donated to,
  // -1 for none in particular, -2 for not donated.
  std::vector<OutputAlias> aliases(const std::vector<int>& donors);

 private:
  BufferId constant(ValueId v);
  bool may_alias(int output, int input);

  const Graph& graph_;
  std::map<ValueId, BufferId> stored_;                           // by owner
  std::map<std::pair<BufferId, std::size_t>, BufferId> pieces_;  // (buffer, offset) -> alias
  std::map<const std::byte*, BufferId> constants_;
  // Per output of the program: the times, from and until, when it is not what it was before the
  // run. Per input: when it is read.
  std::map<int, std::vector<std::pair<int, int>>> output_written_;
  std::map<int, std::set<int>> input_reads_;
  // (output, input, time): the input is read as the output is first written, safe element by
  // element.
  std::set<std::tuple<int, int, int>> in_place_;
};

// The surroundings of a block: owners that it may overwrite, and per result the buffer where it
// must lie (none: anywhere) and the owner that lies there already, -1 if none does.
struct Surroundings {
  bool root = false;
  std::vector<ValueId> own = {};
  std::vector<BufferId> wanted = {};
  std::vector<ValueId> held = {};
};

// The storage of one block, whose units are placed in their order. Thread-safety: external.
class BlockStorage {
 public:
  BlockStorage(Storage& all, const Graph& graph, const Block& block, const Units& units,
               const Surroundings& around);

  // The unit at hand is that of units.order[place].
  void begin(int place) { place_ = place; }
  void set(ValueId v, BufferId b);
  // Where v is made: where it is wanted if that is free, else anywhere. new_buffer: by this unit.
  BufferId new_place(ValueId v);
  BufferId new_buffer(ValueId v);
  // Whether output may be made over all of v's bytes, an element of v being read before it.
  bool may_become(ValueId v, ValueId output);
  // Whether steps of this block may overwrite v, which no later unit reads.
  bool dies_here(ValueId v) const;
  // Where v is wanted, -1 for anywhere.
  BufferId wanted(ValueId v) const;
  // The owner that is, or was last, in such a place; -1: none.
  ValueId holder(BufferId place) const;
  // What a result may be made of in place: that operand of a while, those captured by a case.
  std::vector<ValueId> origins(const Node& n, ValueId result,
                               const std::set<ValueId>& around) const;

 private:
  bool is_free(BufferId place) const;
  void place_operands();

  Storage& all_;
  const Graph& graph_;
  const Units& units_;
  const bool root_;
  int place_ = 0;
  std::map<ValueId, int> last_read_;  // owner -> place in the order of its last reader
  std::set<ValueId> own_;  // owners that steps of this block may overwrite once nothing reads them
  // Owner -> the buffer that it is made in, where that is free then: that of an output of the
  // program or of a branch's result. Which owner is, or was last, in such a buffer.
  std::map<ValueId, BufferId> places_;
  std::map<BufferId, ValueId> holders_;
};

}  // namespace millrace::devices::cpu::compiler
