// Operations with a body over scalars: reduce, reduce_window, select_and_scatter, sort, map.
#include <numeric>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
namespace {

// Operands are n inputs of one shape and n scalars of the inputs' elements (or wider ones); n
// results.
bool check_inputs_and_inits(Check& c, int* count) {
  if (c.op.operand_count() == 0 || c.op.operand_count() % 2 != 0) {
    return c.fail("found ", c.op.operand_count(),
                  " operands, expected inputs and as many initial values");
  }
  const int n = c.op.operand_count() / 2;
  if (!c.results(n) || !c.regions(1)) return false;
  for (int i = 0; i < n; ++i) {
    if (!c.same_dims(i, c.operand(0).dims()) || !c.scalar(n + i)) return false;
  }
  *count = n;
  return true;
}

bool check_results_and_body(Check& c, Ints dims) {
  for (int i = 0; i < c.op.result_count(); ++i) {
    if (!c.result_dims(i, dims)) return false;
  }
  return c.reducer(0, result_types(c), operand_types(c));
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
  int n = 0;
  Dims dims, expected;
  if (!check_inputs_and_inits(c, &n) || !c.required_ints("dimensions", &dims) ||
      !c.axes(dims, c.operand(0).rank(), "dimensions")) {
    return false;
  }
  for (int i = 0; i < c.operand(0).rank(); ++i) {
    if (!contains(dims, i)) expected.push_back(c.operand(0).dim(i));
  }
  return check_results_and_body(c, expected);
}

bool check_reduce_window(Check& c) {
  int n = 0;
  Dims expected;
  return check_inputs_and_inits(c, &n) && windowed_dims(c, c.operand(0).dims(), true, &expected) &&
         check_results_and_body(c, expected);
}

bool check_select_and_scatter(Check& c) {
  Dims expected;
  if (!c.counts(3, 1) || !c.regions(2)) return false;
  const ir::Type operand = c.operand(0);
  if (!c.same_element(1, operand) || !c.scalar(2) ||
      !windowed_dims(c, operand.dims(), false, &expected) ||
      !c.same_dims(c.operand(1).dims(), expected, "operand 1 (the source)")) {
    return false;
  }
  // The selection compares two elements, the scatter combines two.
  const ir::Type two[2] = {}, one[1] = {};
  if (!c.region_types(0, two, one)) return false;
  for (int i = 0; i < 2; ++i) {
    if (!c.scalar_of(c.op.region(0).block().argument(i)->type(), operand,
                     ir::message("argument ", i, " of the selection")))
      return false;
  }
  return c.predicate(c.returned(0), "the value of the selection") &&
         c.reducer(1, result_types(c), operand_types(c)) && c.result_dims(0, operand.dims());
}

bool check_sort(Check& c) {
  if (!c.at_least_operands(1) || !c.results(c.op.operand_count()) || !c.regions(1)) return false;
  const int rank = c.operand(0).rank();
  const std::int64_t axis = c.op.int_or("dimension", -1);
  if (rank > 0 && (axis < -rank || axis >= rank))
    return c.fail("found dimension = ", axis, ", expected ", -rank, " to ", rank - 1);
  const ir::Block& comparator = c.op.region().block();
  std::vector<ir::Type> arguments;
  for (int i = 0; i < c.op.operand_count(); ++i) {
    if (!c.same_dims(i, c.operand(0).dims()) || !c.result_like(i, c.operand(i))) return false;
    const ir::Type scalar =
        comparator.argument_count() > 2 * i ? comparator.argument(2 * i)->type() : ir::Type();
    if (scalar &&
        !c.scalar_of(scalar, c.operand(i), ir::message("argument ", 2 * i, " of the comparator"))) {
      return false;
    }
    arguments.insert(arguments.end(), 2, scalar);
  }
  const ir::Type one[1] = {};
  return c.region_types(0, arguments, one) && c.predicate(c.returned(0), "the comparator's value");
}

bool check_map(Check& c) {
  if (!c.at_least_operands(1) || !c.results(1) || !c.regions(1)) return false;
  for (int i = 0; i < c.op.operand_count(); ++i) {
    if (!c.same_dims(i, c.result().dims())) return false;
  }
  Dims dimensions;
  if (!c.required_ints("dimensions", &dimensions)) return false;
  Dims all(c.operand(0).dims().size());
  std::iota(all.begin(), all.end(), 0);
  if (dimensions != all) {
    return c.fail("found dimensions that are not those of operand 0, expected 0 to ",
                  c.operand(0).rank() - 1, " in order");
  }
  const std::vector<ir::Type> arguments(static_cast<std::size_t>(c.op.operand_count()));
  const ir::Type one[1] = {};
  if (!c.region_types(0, arguments, one)) return false;
  for (int i = 0; i < c.op.operand_count(); ++i) {
    if (!c.scalar_of(c.op.region().block().argument(i)->type(), c.operand(i),
                     ir::message("argument ", i, " of the body")))
      return false;
  }
  return c.scalar_of(c.returned(0), c.result(), "the body's value") &&
         c.result_dims(0, c.operand(0).dims());
}

}  // namespace millrace::devices::stablehlo::verify
