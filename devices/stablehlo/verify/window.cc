// Operations with a body over scalars: reduce, reduce_window, select_and_scatter, sort, map.
#include <numeric>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
namespace {

// Operands are n inputs of one shape and n scalars of the inputs' elements (or wider ones); n
// results.
bool check_inputs_and_inits(Check& c) {
  if (c.op.operand_count() == 0 || c.op.operand_count() % 2 != 0) {
    return c.fail("found ", c.op.operand_count(),
                  " operands, expected inputs and as many initial values");
  }
  const int n = c.op.operand_count() / 2;
  return c.results(n) && c.regions(1) &&
         all(n, [&](int i) { return c.same_dims(i, c.operand(0).dims()) && c.scalar(n + i); });
}

bool check_results_and_body(Check& c, Ints dims) {
  return all(c.op.result_count(), [&](int i) { return c.result_dims(i, dims); }) &&
         c.reducer(0, c.result_types(), c.operand_types());
}

// The shape that windows over `dims` give, from the window_* attributes.
bool windowed_dims(Check& c, Ints dims, bool dilated, Dims* out) {
  const std::size_t rank = dims.size();
  Dims sizes, strides, base(rank, 1), window(rank, 1), padding;
  if (!c.ints("window_dimensions", rank, &sizes,
              dilated ? std::nullopt : std::optional<std::int64_t>(1)) ||
      !c.ints("window_strides", rank, &strides, 1) || !c.padding(rank, &padding)) {
    return false;
  }
  if (dilated &&
      (!c.ints("base_dilations", rank, &base, 1) || !c.ints("window_dilations", rank, &window, 1)))
    return false;
  out->assign(rank, ir::kDynamic);
  for (std::size_t i = 0; i < rank; ++i) {
    if (sizes[i] < 1) return c.fail("found a window of size ", sizes[i], ", expected at least 1");
    const Window w{sizes[i], strides[i], base[i], window[i], padding[2 * i], padding[2 * i + 1]};
    if (!windowed_extent(c, dims[i], w, &(*out)[i])) return false;
  }
  return true;
}

}  // namespace

bool check_reduce(Check& c) {
  Dims dims, expected;
  if (!check_inputs_and_inits(c) || !c.required_ints("dimensions", &dims) ||
      !c.axes(dims, c.operand(0).rank(), "dimensions")) {
    return false;
  }
  append_others(expected, c.operand(0), dims);
  return check_results_and_body(c, expected);
}

bool check_reduce_window(Check& c) {
  Dims expected;
  return check_inputs_and_inits(c) && windowed_dims(c, c.operand(0).dims(), true, &expected) &&
         check_results_and_body(c, expected);
}

bool check_select_and_scatter(Check& c) {
  Dims expected;
  if (!c.counts(3, 1) || !c.regions(2)) return false;
  // The selection compares two elements, the scatter combines two.
  const ir::Type operand = c.operand(0), two[] = {operand, operand};
  return c.same_element(1, operand) && c.scalar(2) &&
         windowed_dims(c, operand.dims(), false, &expected) &&
         c.same_dims(c.operand(1).dims(), expected, "operand 1 (the source)") &&
         c.takes_scalars(0, two, 1, "the selection") &&
         c.predicate(c.returned(0), "the value of the selection") &&
         c.reducer(1, c.result_types(), c.operand_types()) && c.result_dims(0, operand.dims());
}

bool check_sort(Check& c) {
  if (!c.at_least_operands(1) || !c.results(c.op.operand_count()) || !c.regions(1)) return false;
  const int rank = c.operand(0).rank();
  const std::int64_t axis = c.op.int_or("dimension", -1);
  if (rank > 0 && (axis < -rank || axis >= rank))
    return c.fail("found dimension = ", axis, ", expected ", -rank, " to ", rank - 1);
  std::vector<ir::Type> pairs;
  for (const ir::Type type : c.operand_types()) pairs.insert(pairs.end(), 2, type);
  const auto fits = [&](int i) {
    return c.same_dims(i, c.operand(0).dims()) && c.result_like(i, c.operand(i));
  };
  return all(c.op.operand_count(), fits) && c.takes_scalars(0, pairs, 1, "the comparator") &&
         c.predicate(c.returned(0), "the comparator's value");
}

bool check_map(Check& c) {
  Dims dimensions;
  if (!c.at_least_operands(1) || !c.results(1) || !c.regions(1) ||
      !all(c.op.operand_count(), [&](int i) { return c.same_dims(i, c.result().dims()); }) ||
      !c.required_ints("dimensions", &dimensions)) {
    return false;
  }
  Dims expected(c.operand(0).dims().size());
  std::iota(expected.begin(), expected.end(), 0);
  if (dimensions != expected) {
    return c.fail("found dimensions that are not those of operand 0, expected 0 to ",
                  c.operand(0).rank() - 1, " in order");
  }
  return c.takes_scalars(0, c.operand_types(), 1, "the body") &&
         c.scalar_of(c.returned(0), c.result(), "the body's value") &&
         c.result_dims(0, c.operand(0).dims());
}

}  // namespace millrace::devices::stablehlo::verify
