// GraphParts: what a graph is put together of: tensors with what the program says of them,
// instances of values, nodes and edges; and the constraints of a program by the values that they
// are for. Read next: graph_builder.cc, which walks the operations.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/propagate/graph.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"

namespace millrace::devices::stablehlo::propagate {

// A value where it is defined: its tensor, and how many use it.
struct Instance {
  int tensor = -1;
  int uses = 0;
};

// An operation that says how its operand lies.
struct Constraint {
  const ir::Op* op = nullptr;
  sharding::Sharding sharding;
};

// Tensors and instances are known by their numbers. Thread-safety: confined.
class GraphParts {
 public:
  explicit GraphParts(sharding::Meshes meshes);

  Graph& graph() { return graph_; }
  const sharding::Meshes& meshes() const { return meshes_; }
  Tensor& tensor(int t) { return graph_.tensors()[static_cast<std::size_t>(t)]; }
  Tensor& root(int t) { return tensor(graph_.root(t)); }
  Instance& instance(int i) { return instances_[static_cast<std::size_t>(i)]; }

  int make_tensor(ir::Type type);
  int make_instance(int tensor);

  // The tensor lies so. An error where its type does not fit.
  Status give(int t, const sharding::Sharding& sharding);
  // An attribute that may be absent; errors begin with `what`.
  Status give(int t, ir::Attribute attribute, const std::string& what);
  // A list for so many values.
  Result<std::vector<sharding::Sharding>> read_list(const ir::Op& op, const char* name,
                                                    std::size_t count) const;
  // The results of an operation have what its attribute sdy.sharding says, if it is there.
  Status give_results(const ir::Op& op, const std::vector<int>& tensors);

  // Which operations of a region say how a value lies.
  Status find_constraints(const ir::Region& region);
  // The closed sharding that all constraints of a value ask for; nullptr if they do not agree.
  const Constraint* agreed(const ir::Value* value) const;

  Node& add_node(NodeKind kind, Rule rule, std::vector<int> operands, std::vector<int> results);
  // Sources and target lie alike.
  void add_edge(std::vector<int> sources, int target);
  // The node that was added last takes this instance; scalars do not count.
  void note_use(int instance, ir::Type type);
  // Says of each node whether it shares an operand: all uses are known by now.
  void finish();

 private:
  const sharding::Meshes meshes_;
  Graph graph_;
  std::vector<Instance> instances_;
  std::vector<std::vector<int>> used_;  // instances by node
  std::unordered_map<const ir::Value*, std::vector<Constraint>> constraints_;
};

// A tensor that can be cut: its shape is known.
inline bool is_cut(ir::Type type) { return type.is_tensor() && type.has_static_shape(); }

}  // namespace millrace::devices::stablehlo::propagate
