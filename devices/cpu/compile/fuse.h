// fuse: which elementwise operations and reductions of a block become one loop. Consumers pull
// their producers in; then loops over the same space that read the same array are merged. No group
// may depend on itself through nodes outside. Pure; read next: emit_loop.cc, which builds the
// loops.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "millrace/core/base/function_ref.h"
#include "millrace/devices/cpu/compile/graph.h"

namespace millrace::devices::cpu::compiler {

struct Group {
  std::vector<NodeId> nodes;       // in the block's order
  std::vector<std::int64_t> dims;  // the iteration space, without dimensions of size 1
  std::vector<bool> reduced;       // of its reductions; empty if it has none
};

// Who reads what in one block. Values that nested blocks read count as read by the node that holds
// the block.
class Uses {
 public:
  Uses(const Graph& graph, const Block& block);
  // Nodes that read v.
  const std::vector<NodeId>& of(ValueId v) const;
  bool is_result(ValueId v) const { return results_.contains(v); }
  // Whether v is a result or a node outside of a group reads it, if only through unit reshapes.
  bool leaves(ValueId v, FunctionRef<bool(NodeId)> is_inside) const;

 private:
  void add(ValueId v, NodeId user);
  const Graph& graph_;
  std::map<ValueId, std::vector<NodeId>> users_;
  std::set<ValueId> results_;
  std::vector<NodeId> none_;
};

// A reduction that a loop can do as it is.
bool is_loop_reduce(const Graph& graph, const Node& node);

// The groups of a block; every elementwise node and loop reduction is in exactly one.
std::vector<Group> fuse(const Graph& graph, const Block& block, const Uses& uses);

// fuse_fit.cc, the end of fuse().
// Each group, or its nodes in several groups one after the other, so that LoopKernel::make takes
// each; a single node always fits. Nodes in the block's order, as fuse() gives them: then no part
// depends on one behind it.
std::vector<Group> split_to_fit(const Graph& graph, const Uses& uses, std::vector<Group> groups);

}  // namespace millrace::devices::cpu::compiler
