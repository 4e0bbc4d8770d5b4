// gather and scatter. Names and constraints are those of StableHLO's specification of the two.
#include <algorithm>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
namespace {

bool ascending(Check& c, Ints list, std::string_view what) {
  return std::ranges::is_sorted(list) ||
         c.fail("the numbers of ", what, " are not in ascending order");
}

// What gather and scatter have in common: how a vector of indices points into the operand.
struct Indexing {
  ir::Type operand, indices;
  int indices_at = 1;     // which operand they are
  Ints dropped;           // collapsed_slice_dims or inserted_window_dims
  Ints operand_batching;  // operand_batching_dims or input_batching_dims
  Ints indices_batching;
  Ints index_map;
  std::int64_t vector_dim = 0;

  bool drops(int axis) const { return contains(dropped, axis) || contains(operand_batching, axis); }
};

bool check_indexing(Check& c, const Indexing& x) {
  const int rank = x.operand.rank();
  const int indices_rank = x.indices.rank();
  if (!c.element_in(x.indices, kInteger, "the indices")) return false;
  if (x.vector_dim < 0 || x.vector_dim > indices_rank)
    return c.fail("found index_vector_dim = ", x.vector_dim, ", expected 0 to ", indices_rank);
  const std::int64_t length = x.vector_dim == indices_rank ? 1 : x.indices.dim(x.vector_dim);
  if (!agree(length, static_cast<std::int64_t>(x.index_map.size()))) {
    return c.fail("the index vectors have ", length, " entries, expected one for each of the ",
                  x.index_map.size(), " mapped dimensions");
  }
  if (!c.axes(x.dropped, x.operand_batching, rank, "the dropped and batching dimensions") ||
      !c.axes(x.index_map, x.operand_batching, rank, "the mapped and batching dimensions") ||
      !c.axes(x.indices_batching, indices_rank, "the batching dimensions of the indices") ||
      !ascending(c, x.dropped, "the dropped dimensions") ||
      !ascending(c, x.operand_batching, "the batching dimensions")) {
    return false;
  }
  if (contains(x.indices_batching, x.vector_dim))
    return c.fail("index_vector_dim is one of the batching dimensions of the indices");
  return c.agree_at(x.operand_batching, x.indices_batching, "batching", x.indices_at);
}

// The indices' shape without the dimension of the index vectors, and between its dimensions, at
// the given axes, those of the windows.
bool assemble(Check& c, const Indexing& x, Ints windows, Ints window_axes, std::string_view what,
              Dims* out) {
  Dims batch = dims_of(x.indices);
  if (x.vector_dim < x.indices.rank()) batch.erase(batch.begin() + x.vector_dim);
  const std::size_t rank = batch.size() + windows.size();
  if (window_axes.size() != windows.size()) {
    return c.fail("found ", window_axes.size(), " numbers in ", what, ", expected ",
                  windows.size());
  }
  if (!c.axes(window_axes, static_cast<int>(rank), what) || !ascending(c, window_axes, what))
    return false;
  auto b = batch.begin();
  auto w = windows.begin();
  for (std::size_t i = 0; i < rank; ++i)
    out->push_back(contains(window_axes, static_cast<std::int64_t>(i)) ? *w++ : *b++);
  return true;
}

}  // namespace

// The sizes of dynamic_gather's slices are an operand: they are compared with the result when they
// are known.
bool check_gather(Check& c) {
  const bool sizes_known = c.op.kind() == ir::OpKind::kGather;
  if (!c.counts(sizes_known ? 2 : 3, 1) || !c.per_tensor(0)) return false;
  const auto* d = c.op.attr<ir::GatherDimsAttr>("dimension_numbers");
  if (d == nullptr) return c.fail("the attribute dimension_numbers is missing");
  const Indexing x{c.operand(0),
                   c.operand(1),
                   1,
                   d->collapsed_slice_dims,
                   d->operand_batching_dims,
                   d->start_indices_batching_dims,
                   d->start_index_map,
                   d->index_vector_dim};
  const int rank = x.operand.rank();
  Dims sizes(static_cast<std::size_t>(rank), ir::kDynamic), windows, expected;
  if (!check_indexing(c, x) ||
      (sizes_known ? !c.ints("slice_sizes", sizes.size(), &sizes)
                   : !c.element_in(2, kInteger) || !c.same_dims(2, Dims{rank}))) {
    return false;
  }
  for (int i = 0; i < rank; ++i) {
    const std::int64_t extent = x.operand.dim(i), size = sizes[static_cast<std::size_t>(i)];
    const bool dropped = x.drops(i);
    if (sizes_known &&
        (size < 0 || (extent != ir::kDynamic && size > extent) || (dropped && size > 1))) {
      return c.fail("found a slice size of ", size, " for dimension ", i, ", expected 0 to ",
                    dropped && extent != 0 ? 1 : extent);
    }
    if (!dropped) windows.push_back(size);
  }
  return assemble(c, x, windows, d->offset_dims, "offset_dims", &expected) && c.keeps_element() &&
         c.result_dims(0, expected);
}

bool check_scatter(Check& c) {
  if (c.op.operand_count() < 3 || c.op.operand_count() % 2 == 0) {
    return c.fail("found ", c.op.operand_count(),
                  " operands, expected inputs, indices and as many updates");
  }
  const int n = c.op.operand_count() / 2;
  const auto* d = c.op.attr<ir::ScatterDimsAttr>("scatter_dimension_numbers");
  if (d == nullptr) return c.fail("the attribute scatter_dimension_numbers is missing");
  if (!c.results(n) || !c.regions(1)) return false;
  const Indexing x{c.operand(0),
                   c.operand(n),
                   n,
                   d->inserted_window_dims,
                   d->input_batching_dims,
                   d->scatter_indices_batching_dims,
                   d->scatter_dims_to_operand_dims,
                   d->index_vector_dim};
  Dims windows, expected;
  append_others(windows, x.operand, x.dropped, x.operand_batching);
  if (!check_indexing(c, x) ||
      !assemble(c, x, windows, d->update_window_dims, "update_window_dims", &expected)) {
    return false;
  }
  // Windows of updates may be smaller than the operand: their extents are taken from the updates,
  // then bounded.
  const auto updates = c.operand(n + 1).dims();
  if (updates.size() != expected.size())
    return c.fail("the updates have rank ", updates.size(), ", expected ", expected.size());
  for (std::int64_t axis : d->update_window_dims) {
    const auto i = static_cast<std::size_t>(axis);
    if (updates[i] != ir::kDynamic && expected[i] != ir::kDynamic && updates[i] > expected[i]) {
      return c.fail("dimension ", i, " of the updates is ", updates[i], ", expected at most ",
                    expected[i]);
    }
    expected[i] = updates[i];
  }
  std::vector<ir::Type> arrays = c.operand_types();
  arrays.erase(arrays.begin() + n);  // the indices
  const auto fits = [&](int i) {
    const int update = n + 1 + i;
    return c.same_dims(i, x.operand.dims()) &&
           c.same_dims(c.operand(update).dims(), expected, operand_name(update) + " (updates)") &&
           c.result_dims(i, c.operand(i).dims());
  };
  return all(n, fits) && c.reducer(0, c.result_types(), arrays);
}

}  // namespace millrace::devices::stablehlo::verify
