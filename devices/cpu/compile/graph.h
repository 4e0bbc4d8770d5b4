// Graph: the compiler's own form of a program: functions inlined, attributes decoded for kernels,
// values numbered. lower() makes it from the ir, simplify() rewrites it. plan.h has the passes that
// follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/contraction/contraction.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "millrace/devices/cpu/kernels/elementwise/loop_kernel.h"
#include "millrace/devices/cpu/kernels/kernel.h"
#include "millrace/devices/cpu/kernels/movement/indexed.h"
#include "millrace/devices/cpu/kernels/reduce/region_reduce.h"
#include "millrace/devices/cpu/kernels/region.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu::compiler {

using ValueId = int;
using NodeId = int;

// What a process gives another one, or takes from it (stablehlo/spread/divide.h).
struct Exchange {
  bool gives = false;
  int edge = 0;
  int process = 0;  // the other one
};

enum class NodeKind : std::uint8_t {
  kConstant,
  kIota,
  kElementwise,
  // Views: the same elements seen otherwise.
  kBroadcast,
  kReshape,
  kTranspose,
  kSlice,
  kReverse,
  kPad,
  kConcatenate,
  kDynamicSlice,
  kDynamicUpdateSlice,
  kGather,
  kScatter,
  kDot,
  kConvolution,
  kReduce,
  kReduceWindow,
  kSelectAndScatter,
  kSort,
  kWhile,
  kCase,
  // Anything else, by its definition (kernels/kernel.h); calls of custom functions.
  kReference,
};

struct Block {
  std::vector<ValueId> parameters;
  std::vector<NodeId> nodes;  // in an order that respects the data flow
  std::vector<ValueId> results;
};

struct Value {
  Shape shape;
  NodeId producer = -1;  // -1: a parameter of a block
};

// The fields that a kind uses are named beside it; the others are empty.
struct Node {
  NodeKind kind = NodeKind::kConstant;
  ir::Location location;
  std::string_view name;  // the op that it came from; lives in static storage
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  // kConstant: elements as DenseAttr has them; a splat holds one.
  std::shared_ptr<const std::byte[]> data;
  bool splat = false;
  // kElementwise
  TileOp op = TileOp::kCopy;
  std::uint32_t param = 0;
  // kIota, kConcatenate, kSort: {dimension}. kBroadcast: the result's dimension of each operand
  // dimension. kTranspose: the permutation. kReverse, kReduce: which dimensions.
  std::vector<std::int64_t> dims;
  // kSlice: start, limit, stride. kPad: low, high, interior.
  std::vector<std::int64_t> low, high, step;
  Window window;                          // kReduceWindow, kSelectAndScatter
  DotDims dot;                            // kDot
  ConvolutionDims convolution;            // kConvolution
  IndexedDims indexed;                    // kGather, kScatter
  std::vector<std::int64_t> slice_sizes;  // kGather
  std::shared_ptr<const Region> region,
      region2;                // reducer or comparator; region2: the scatter of a select
  std::vector<Block> blocks;  // kWhile: condition, body; kCase: branches
  std::shared_ptr<const definition::Kernel> kernel;  // kReference
  bool has_effect = false;           // kReference: it runs though nothing reads its results
  std::optional<Exchange> exchange;  // kReference: in place of the kernel
};

struct Graph {
  std::vector<Value> values;
  std::deque<Node> nodes;  // a deque: adding a node moves none
  Block root;

  const Shape& shape(ValueId v) const { return values[static_cast<std::size_t>(v)].shape; }
  Node& node(NodeId n) { return nodes[static_cast<std::size_t>(n)]; }
  const Node& node(NodeId n) const { return nodes[static_cast<std::size_t>(n)]; }
  // The node that makes v, or nullptr for a parameter.
  const Node* producer(ValueId v) const {
    const NodeId n = values[static_cast<std::size_t>(v)].producer;
    return n < 0 ? nullptr : &node(n);
  }
  ValueId add_value(const Shape& shape, NodeId producer = -1) {
    values.push_back({shape, producer});
    return static_cast<ValueId>(values.size()) - 1;
  }
  // Adds a node with results of these shapes; it is in no block yet.
  NodeId add_node(Node node, const std::vector<Shape>& results);
  // The same at the end of a block; gives the results.
  const std::vector<ValueId>& append(Block& to, Node node, const std::vector<Shape>& results) {
    to.nodes.push_back(add_node(std::move(node), results));
    return nodes.back().outputs;
  }
};

// Whether a run makes the constant's bytes, as it makes an iota's: a splat that is large, for a few
// words of a program must not become any amount of memory while it is compiled.
bool is_made_by_runs(const Graph& graph, const Node& node);

// The constant that v is, as a splat of one element; nullptr if it is none. Looks through
// broadcasts and reshapes.
const std::byte* splat_constant(const Graph& graph, ValueId v);
// Whether the node, or one in its blocks, does more than make its results.
bool has_effect(const Graph& graph, const Node& node);
bool is_view(NodeKind kind);
// Values of outer blocks that the node's blocks read.
std::set<ValueId> captured(const Graph& graph, const Node& node);

// The dimensions without those of size 1: what a loop iterates over.
std::vector<std::int64_t> squeezed(const Shape& shape);

// A value as broadcasts, transposes, slices, reverses and reshapes of a stored value: fused loops
// and copies read the stored one by strides.
struct View {
  ValueId base =
      -1;  // a value that is not itself a view, or a reshape that really changes dimensions
  std::int64_t offset = 0;            // in elements of base
  std::vector<std::int64_t> strides;  // over squeezed(shape of the value)
  bool iota = false;  // base is an iota: offset and strides are its numbers, not addresses

  // Whether this is a dense array of these dimensions, from offset on.
  bool dense(const std::vector<std::int64_t>& dims) const;
};

// How v is read. Stops early, at a value that then has to be stored, where reading through a
// transpose would touch memory in a bad order; not so if `all` is true, for a copy that makes this
// very value.
View resolve(const Graph& graph, ValueId v, bool all = false);

// v without reshapes that only add or remove dimensions of size 1.
ValueId strip(const Graph& graph, ValueId v);
// Whether node is a reshape that strip() goes through.
bool is_unit_reshape(const Graph& graph, const Node& node);

// simplify.cc: rewrites that make what follows simpler: operations that do nothing disappear, equal
// ones become one, transposes move into dots, reductions split into those that a loop can do, and
// nodes whose results nothing needs are taken out of their blocks.
void simplify(Graph& graph);

}  // namespace millrace::devices::cpu::compiler
