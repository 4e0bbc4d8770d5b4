// View: a value seen through broadcasts, transposes, slices, reverses and reshapes, down to the
// value that is really stored: fused loops and copies read that one by strides. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/kernels/dim_vector.h"

namespace millrace::devices::cpu::compiler {

// The dimensions without those of size 1: what a loop iterates over.
std::vector<std::int64_t> squeezed(const Shape& shape);

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

}  // namespace millrace::devices::cpu::compiler
