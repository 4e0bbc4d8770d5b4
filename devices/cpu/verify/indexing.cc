// gather and scatter. Names and constraints are those of StableHLO's specification of the two.
#include <algorithm>

#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

using ir::Ints;

bool contains(Ints list, std::int64_t value) {
  return std::ranges::find(list, value) != list.end();
}

Dims joined(Ints a, Ints b) {
  Dims out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

bool ascending(Check& c, Ints list, std::string_view what) {
  return std::ranges::is_sorted(list) ||
         c.fail("the numbers of " + std::string(what) + " are not in ascending order");
}

// What gather and scatter have in common: how a vector of indices points into the operand.
struct Indexing {
  ir::Type operand, indices;
  Ints dropped;           // collapsed_slice_dims or inserted_window_dims
  Ints operand_batching;  // operand_batching_dims or input_batching_dims
  Ints indices_batching;
  Ints index_map;
  std::int64_t vector_dim = 0;
};

bool check_indexing(Check& c, const Indexing& x) {
  const int rank = x.operand.rank();
  const int indices_rank = x.indices.rank();
  if (!c.element_in(x.indices, kInteger, "the indices")) return false;
  if (x.vector_dim < 0 || x.vector_dim > indices_rank) {
    return c.fail("found index_vector_dim = " + std::to_string(x.vector_dim) + ", expected 0 to " +
                  std::to_string(indices_rank));
  }
  const std::int64_t length =
      x.vector_dim == indices_rank ? 1 : x.indices.dims()[static_cast<std::size_t>(x.vector_dim)];
  if (!agree(length, static_cast<std::int64_t>(x.index_map.size()))) {
    return c.fail("the index vectors have " + std::to_string(length) +
                  " entries, expected one for each of the " + std::to_string(x.index_map.size()) +
                  " mapped dimensions");
  }
  if (!c.axes(joined(x.dropped, x.operand_batching), rank, "the dropped and batching dimensions") ||
      !c.axes(joined(x.index_map, x.operand_batching), rank,
              "the mapped and batching dimensions") ||
      !c.axes(x.indices_batching, indices_rank, "the batching dimensions of the indices") ||
      !ascending(c, x.dropped, "the dropped dimensions") ||
      !ascending(c, x.operand_batching, "the batching dimensions")) {
    return false;
  }
  if (contains(x.indices_batching, x.vector_dim))
    return c.fail("index_vector_dim is one of the batching dimensions of the indices");
  if (x.operand_batching.size() != x.indices_batching.size()) {
    return c.fail("found " + std::to_string(x.operand_batching.size()) +
                  " batching dimensions of the operand and " +
                  std::to_string(x.indices_batching.size()) +
                  " of the indices, expected the same number");
  }
  for (std::size_t i = 0; i < x.operand_batching.size(); ++i) {
    const std::int64_t a = x.operand.dims()[static_cast<std::size_t>(x.operand_batching[i])];
    const std::int64_t b = x.indices.dims()[static_cast<std::size_t>(x.indices_batching[i])];
    if (!agree(a, b))
      return c.fail("batching dimensions of " + std::to_string(a) + " and " + std::to_string(b) +
                    ", expected the same");
  }
  return true;
}

// The indices' shape without the dimension of the index vectors.
Dims batch_dims(const Indexing& x) {
  Dims out;
  for (int i = 0; i < x.indices.rank(); ++i) {
    if (i != x.vector_dim) out.push_back(x.indices.dims()[static_cast<std::size_t>(i)]);
  }
  return out;
}

// Interleaves: windows at the given axes, batch elsewhere.
bool assemble(Check& c, std::span<const std::int64_t> batch, std::span<const std::int64_t> windows,
              Ints window_axes, std::string_view what, Dims* out) {
  const std::size_t rank = batch.size() + windows.size();
  if (window_axes.size() != windows.size()) {
    return c.fail("found " + std::to_string(window_axes.size()) + " numbers in " +
                  std::string(what) + ", expected " + std::to_string(windows.size()));
  }
  if (!c.axes(window_axes, static_cast<int>(rank), what) || !ascending(c, window_axes, what))
    return false;
  auto b = batch.begin();
  auto w = windows.begin();
  for (std::size_t i = 0; i < rank; ++i)
    out->push_back(contains(window_axes, static_cast<std::int64_t>(i)) ? *w++ : *b++);
  return true;
}

Indexing indexing_of(const Check& c, const ir::GatherDimsAttr& d) {
  return {c.operand(0),
          c.operand(1),
          d.collapsed_slice_dims,
          d.operand_batching_dims,
          d.start_indices_batching_dims,
          d.start_index_map,
          d.index_vector_dim};
}

}  // namespace

bool check_gather(Check& c) {
  if (!c.operands(2) || !c.results(1) || !c.per_tensor(0)) return false;
  const auto* d = c.op.attr<ir::GatherDimsAttr>("dimension_numbers");
  if (d == nullptr) return c.fail("the attribute dimension_numbers is missing");
  const Indexing x = indexing_of(c, *d);
  Dims sizes;
  if (!check_indexing(c, x) || !c.ints("slice_sizes", x.operand.dims().size(), &sizes))
    return false;
  Dims offsets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t extent = x.operand.dims()[i];
    const auto axis = static_cast<std::int64_t>(i);
    const bool dropped = contains(x.dropped, axis) || contains(x.operand_batching, axis);
    if (sizes[i] < 0 || (extent != ir::kDynamic && sizes[i] > extent) ||
        (dropped && sizes[i] > 1)) {
      return c.fail("found a slice size of " + std::to_string(sizes[i]) + " for dimension " +
                    std::to_string(i) + ", expected 0 to " +
                    (dropped && extent != 0 ? "1" : std::to_string(extent)));
    }
    if (!dropped) offsets.push_back(sizes[i]);
  }
  Dims expected;
  return assemble(c, batch_dims(x), offsets, d->offset_dims, "offset_dims", &expected) &&
         c.same_element(c.result(), x.operand, "the result") && c.result_dims(0, expected);
}

// The sizes of the slices are an operand: they are compared with the result when they are known.
bool check_dynamic_gather(Check& c) {
  if (!c.operands(3) || !c.results(1) || !c.per_tensor(0)) return false;
  const auto* d = c.op.attr<ir::GatherDimsAttr>("dimension_numbers");
  if (d == nullptr) return c.fail("the attribute dimension_numbers is missing");
  const Indexing x = indexing_of(c, *d);
  const std::int64_t rank[] = {x.operand.rank()};
  if (!check_indexing(c, x) || !c.element_in(c.operand(2), kInteger, "operand 2") ||
      !c.same_dims(c.operand(2).dims(), rank, "operand 2")) {
    return false;
  }
  Dims offsets, expected;
  for (int i = 0; i < x.operand.rank(); ++i) {
    if (!contains(x.dropped, i) && !contains(x.operand_batching, i))
      offsets.push_back(ir::kDynamic);
  }
  return assemble(c, batch_dims(x), offsets, d->offset_dims, "offset_dims", &expected) &&
         c.same_element(c.result(), x.operand, "the result") && c.result_dims(0, expected);
}

bool check_scatter(Check& c) {
  if (c.op.operand_count() < 3 || c.op.operand_count() % 2 == 0) {
    return c.fail("found " + std::to_string(c.op.operand_count()) +
                  " operands, expected inputs, indices and as many updates");
  }
  const int n = c.op.operand_count() / 2;
  const auto* d = c.op.attr<ir::ScatterDimsAttr>("scatter_dimension_numbers");
  if (d == nullptr) return c.fail("the attribute scatter_dimension_numbers is missing");
  if (!c.results(n) || !c.regions(1)) return false;
  const Indexing x{c.operand(0),
                   c.operand(n),
                   d->inserted_window_dims,
                   d->input_batching_dims,
                   d->scatter_indices_batching_dims,
                   d->scatter_dims_to_operand_dims,
                   d->index_vector_dim};
  if (!check_indexing(c, x)) return false;
  Dims windows;
  for (int i = 0; i < x.operand.rank(); ++i) {
    if (!contains(x.dropped, i) && !contains(x.operand_batching, i))
      windows.push_back(x.operand.dims()[static_cast<std::size_t>(i)]);
  }
  // Windows of updates may be smaller than the operand: their extents are taken from the updates,
  // then bounded.
  const auto updates = c.operand(n + 1).dims();
  Dims expected;
  if (!assemble(c, batch_dims(x), windows, d->update_window_dims, "update_window_dims", &expected))
    return false;
  if (updates.size() != expected.size()) {
    return c.fail("the updates have rank " + std::to_string(updates.size()) + ", expected " +
                  std::to_string(expected.size()));
  }
  for (std::int64_t axis : d->update_window_dims) {
    const auto i = static_cast<std::size_t>(axis);
    if (updates[i] != ir::kDynamic && expected[i] != ir::kDynamic && updates[i] > expected[i]) {
      return c.fail("dimension " + std::to_string(i) + " of the updates is " +
                    std::to_string(updates[i]) + ", expected at most " +
                    std::to_string(expected[i]));
    }
    expected[i] = updates[i];
  }
  std::vector<ir::Type> elements, arrays = operand_types(c);
  arrays.erase(arrays.begin() + n);  // the indices
  for (int i = 0; i < n; ++i) {
    const std::string number = std::to_string(i);
    if (!c.same_dims(c.operand(i).dims(), x.operand.dims(), "operand " + number) ||
        !c.same_dims(c.operand(n + 1 + i).dims(), expected,
                     "operand " + std::to_string(n + 1 + i) + " (updates)") ||
        !c.result_dims(i, c.operand(i).dims(), "result " + number)) {
      return false;
    }
    elements.push_back(c.result(i));
  }
  return c.reducer(0, elements, arrays);
}

}  // namespace millrace::devices::cpu::verify
