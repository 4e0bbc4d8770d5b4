// fuse: which elementwise operations and reductions of a block become one loop. Consumers pull
// their producers in; then loops over the same space that read the same array are merged. No group
// may depend on itself through nodes outside. Pure; read next: emit_loop.h, which builds the loops.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "millrace/devices/cpu/plan/graph.h"

namespace millrace::devices::cpu::plan {

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
  bool is_result(ValueId v) const { return results_.contains(v) && results_.at(v); }

 private:
  void add(ValueId v, NodeId user);
  void add_block(const Graph& graph, const Block& inner, NodeId user);
  std::map<ValueId, std::vector<NodeId>> users_;
  std::map<ValueId, bool> results_;
  std::vector<NodeId> none_;
};

// A reduction that a loop can do as it is.
bool is_loop_reduce(const Graph& graph, const Node& node);

// The groups of a block; every elementwise node and loop reduction is in exactly one.
std::vector<Group> fuse(const Graph& graph, const Block& block, const Uses& uses);

}  // namespace millrace::devices::cpu::plan
