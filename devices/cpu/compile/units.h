// Units: a block cut into parts that become one step each: groups of fused nodes, single nodes,
// dense copies of views, copies to outputs; and their order. Pure. Read next: unit_kernel.h, which
// chooses what computes each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/compile/graph.h"

namespace millrace::devices::cpu::compiler {

// Which value owns the bytes of another one: through reshapes and dense pieces of arrays.
// Thread-safety: external.
class Owners {
 public:
  explicit Owners(const Graph& graph) : graph_(graph), known_(graph.values.size()) {}
  struct Piece {
    ValueId owner = -1;
    std::size_t offset = 0;  // in bytes
  };
  const Piece& piece(ValueId v) const;
  ValueId of(ValueId v) const { return piece(v).owner; }
  // The owners of what the node's blocks read and of what lies between: those made outside.
  std::set<ValueId> around(const Node& n) const;

 private:
  const Graph& graph_;
  mutable std::vector<Piece> known_;  // by value; owner -1: not asked yet
};

// A loop before it is a step: what it computes, and the values that it reads and makes.
struct LoopParts {
  LoopSpec spec = {};                 // its buffers are numbers of arrays
  std::vector<ValueId> arrays = {};   // that it reads; stored ones
  std::vector<ValueId> results = {};  // per output
  std::shared_ptr<const LoopKernel> kernel = nullptr;

  int array(ValueId v);
  // Finishes the spec and makes its kernel. False where one loop cannot hold it.
  bool make_kernel();
};

struct Group {
  std::vector<NodeId> nodes;       // in the block's order
  std::vector<std::int64_t> dims;  // the iteration space, without dimensions of size 1
  std::vector<bool> reduced;       // of its reductions; empty if it has none
  LoopParts loop = {};
};

// fuse.cc: which elementwise operations and reductions of a block become one loop. Consumers pull
// their producers in; then loops over the same space that read the same array are merged. No group
// may depend on itself through nodes outside. Each has its loop; every elementwise node and loop
// reduction is in exactly one. What one loop cannot hold becomes several, one after the other.
std::vector<Group> fuse(const Graph& graph, const Block& block);

struct Unit {
  int group = -1;           // a fused loop,
  NodeId node = -1;         // or a node of its own,
  ValueId copy = -1;        // or the dense copy of a view, an iota or a splat,
  int result = -1;          // or the copy of a value to output `result`
  std::set<ValueId> reads;  // owners
  std::vector<ValueId> writes;
  double cost = 1;
};

struct Units {
  std::vector<Group> groups;
  std::vector<Unit> list;
  std::vector<int> order;                    // of their steps; what no result needs is left out
  std::map<ValueId, int> writer;             // owner -> unit
  std::set<ValueId> dense;                   // owners that units copy
  std::map<ValueId, int> made_results;       // owner that is a result as a whole -> which
  std::map<int, std::vector<Units>> blocks;  // unit -> those of its node's blocks
};

// The units of the program and of all blocks inside. The results of the root that are not made
// whole get units that copy them. A block's units depend on the order of those around it: what
// these have made dense before it is dense already. So a block is ordered before its inner ones are
// cut.
Units make_units(const Graph& graph, const Owners& owners);

}  // namespace millrace::devices::cpu::compiler
