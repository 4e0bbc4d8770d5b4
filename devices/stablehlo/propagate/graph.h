// Graph: a program as propagation sees it. Tensors have shardings; nodes are operations with the
// rule that ties the tensors together. Calls are part of their callers, loops and branches are
// edges: what goes in and comes back, and what is seen inside and outside, lies alike. A constant
// (or a broadcast scalar) is one tensor for each use, so that its uses may lie differently.
// Read next: rule.h, propagate.h; graph_parts.h, how it is made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/propagate/factors.h"
#include "millrace/devices/stablehlo/propagate/rule.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"

namespace millrace::devices::stablehlo::propagate {

// How early propagation goes through a node, and where.
enum class NodeKind : std::uint8_t {
  kElementwise,
  kReshape,    // also transposes and edges: dimensions go as they are
  kSlice,      // dynamic slices and updates: early forwards only
  kBroadcast,  // forwards last
  kBarrier,    // as far as its own direction says
  kOther,
};

struct Node {
  NodeKind kind = NodeKind::kOther;
  Rule rule;
  std::vector<int> operands;  // tensors
  std::vector<int> results;
  bool shares_operand = false;  // one that others use too
  Direction barrier = kBoth;
};

// A tensor, or one as the body of a manual computation sees it: without the manual axes of the
// tensor of which it is a view.
struct Tensor {
  ir::Type type;
  std::optional<sharding::Sharding> sharding;  // nullopt: open everywhere; not of a view
  int view_of = -1;
  std::vector<int> manual_axes;  // of the mesh
  std::vector<int> nodes;        // that have it or a view of it
  int group = -1;                // all of a group lie alike
  bool edge = false;             // it is what an edge gives: its axes have no priority
};

class Graph {
 public:
  // kInvalidArgument for what the module's attributes of Shardy say wrongly.
  static Result<Graph> of(const ir::Module& module, const ir::Function& main);

  std::vector<Node>& nodes() { return nodes_; }
  std::vector<Tensor>& tensors() { return tensors_; }
  const std::vector<int>& arguments() const { return arguments_; }
  // What the function returns, and the results as they leave it.
  const std::vector<int>& returned() const { return returned_; }
  const std::vector<int>& results() const { return results_; }
  void set_ends(std::vector<int> arguments, std::vector<int> returned, std::vector<int> results) {
    arguments_ = std::move(arguments);
    returned_ = std::move(returned);
    results_ = std::move(results);
  }
  // A mesh of the module with axes; a placeholder if there is none.
  const std::shared_ptr<const sharding::Mesh>& some_mesh() const { return some_mesh_; }
  void set_some_mesh(std::shared_ptr<const sharding::Mesh> mesh) { some_mesh_ = std::move(mesh); }

  std::optional<sharding::Sharding> sharding_of(int tensor) const;
  void set_sharding(int tensor, const sharding::Sharding& sharding);
  // The tensor with the sharding of this one.
  int root(int tensor) const {
    const int of = tensors_[static_cast<std::size_t>(tensor)].view_of;
    return of < 0 ? tensor : of;
  }

 private:
  std::vector<Node> nodes_;
  std::vector<Tensor> tensors_;
  std::vector<int> arguments_, returned_, results_;
  std::shared_ptr<const sharding::Mesh> some_mesh_;
};

}  // namespace millrace::devices::stablehlo::propagate
