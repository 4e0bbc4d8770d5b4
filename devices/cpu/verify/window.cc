// Operations with a body over scalars: reduce, reduce_window, select_and_scatter, sort, map.
#include <algorithm>
#include <numeric>

#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

// Operands are n inputs of one shape and n scalars of the inputs' elements (or wider ones); n
// results.
bool check_inputs_and_inits(Check& c, int* count) {
  if (c.op.operand_count() == 0 || c.op.operand_count() % 2 != 0) {
    return c.fail("found " + std::to_string(c.op.operand_count()) +
                  " operands, expected inputs and as many initial values");
  }
  const int n = c.op.operand_count() / 2;
  if (!c.results(n) || !c.regions(1)) return false;
  for (int i = 0; i < n; ++i) {
    if (!c.same_dims(c.operand(i).dims(), c.operand(0).dims(), "operand " + std::to_string(i)) ||
        !c.scalar(c.operand(n + i), "operand " + std::to_string(n + i))) {
      return false;
    }
  }
  *count = n;
  return true;
}

bool check_body(Check& c, int n) {
  std::vector<ir::Type> elements;
  for (int i = 0; i < n; ++i) elements.push_back(c.result(i));
  return c.reducer(0, elements, operand_types(c));
}

bool results_have_dims(Check& c, std::span<const std::int64_t> dims) {
  for (int i = 0; i < c.op.result_count(); ++i) {
    if (!c.result_dims(i, dims)) return false;
  }
  return true;
}

// The shape that windows over `dims` give, from the window_* attributes.
bool windowed_dims(Check& c, std::span<const std::int64_t> dims, bool dilated, Dims* out) {
  const std::size_t rank = dims.size();
  Dims sizes;
  Dims strides;
  Dims base(rank, 1);
  Dims window(rank, 1);
  Dims padding;
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
    if (sizes[i] < 1)
      return c.fail("found a window of size " + std::to_string(sizes[i]) + ", expected at least 1");
    const Window w{sizes[i], strides[i], base[i], window[i], padding[2 * i], padding[2 * i + 1]};
    if (!windowed_extent(c, dims[i], w, &(*out)[i])) return false;
  }
  return true;
}

}  // namespace

bool check_reduce(Check& c) {
  int n = 0;
  Dims dims;
  if (!check_inputs_and_inits(c, &n) || !c.required_ints("dimensions", &dims) ||
      !c.axes(dims, c.operand(0).rank(), "dimensions")) {
    return false;
  }
  Dims expected;
  for (int i = 0; i < c.operand(0).rank(); ++i) {
    if (std::ranges::find(dims, i) == dims.end())
      expected.push_back(c.operand(0).dims()[static_cast<std::size_t>(i)]);
  }
  return results_have_dims(c, expected) && check_body(c, n);
}

bool check_reduce_window(Check& c) {
  int n = 0;
  Dims expected;
  return check_inputs_and_inits(c, &n) && windowed_dims(c, c.operand(0).dims(), true, &expected) &&
         results_have_dims(c, expected) && check_body(c, n);
}

bool check_select_and_scatter(Check& c) {
  Dims expected;
  if (!c.operands(3) || !c.results(1) || !c.regions(2)) return false;
  const ir::Type operand = c.operand(0);
  if (!c.same_element(c.operand(1), operand, "operand 1") || !c.scalar(c.operand(2), "operand 2") ||
      !windowed_dims(c, operand.dims(), false, &expected) ||
      !c.same_dims(c.operand(1).dims(), expected, "operand 1 (the source)")) {
    return false;
  }
  // The selection compares two elements, the scatter combines two.
  const ir::Block& selection = c.op.region(0).block();
  const ir::Type two[2] = {};
  const ir::Type one[1] = {};
  if (!c.region_types(0, two, one)) return false;
  for (int i = 0; i < 2; ++i) {
    const std::string what = "argument " + std::to_string(i) + " of the selection";
    const ir::Type found = selection.argument(i)->type();
    if (!c.scalar(found, what) || !c.same_element(found, operand, what)) return false;
  }
  const ir::Type verdict = selection.terminator()->operand(0)->type();
  if (!c.scalar(verdict, "the value of the selection") ||
      !c.element_in(verdict, kBool, "the value of the selection"))
    return false;
  const ir::Type elements[1] = {c.result()};
  return c.reducer(1, elements, operand_types(c)) && c.result_dims(0, operand.dims(), "the result");
}

bool check_sort(Check& c) {
  if (!c.at_least_operands(1) || !c.results(c.op.operand_count()) || !c.regions(1)) return false;
  const int rank = c.operand(0).rank();
  const std::int64_t axis = c.op.int_or("dimension", -1);
  if (rank > 0 && (axis < -rank || axis >= rank)) {
    return c.fail("found dimension = " + std::to_string(axis) + ", expected " +
                  std::to_string(-rank) + " to " + std::to_string(rank - 1));
  }
  std::vector<ir::Type> arguments;
  for (int i = 0; i < c.op.operand_count(); ++i) {
    const std::string number = std::to_string(i);
    if (!c.same_dims(c.operand(i).dims(), c.operand(0).dims(), "operand " + number) ||
        !c.result_like(i, c.operand(i), "result " + number)) {
      return false;
    }
    const ir::Type scalar = c.op.region().block().argument_count() > 2 * i
                                ? c.op.region().block().argument(2 * i)->type()
                                : ir::Type();
    if (scalar && (!c.scalar(scalar, "argument " + std::to_string(2 * i) + " of the comparator") ||
                   !c.same_element(scalar, c.operand(i),
                                   "argument " + std::to_string(2 * i) + " of the comparator"))) {
      return false;
    }
    arguments.push_back(scalar);
    arguments.push_back(scalar);
  }
  const ir::Type one[1] = {};
  if (!c.region_types(0, arguments, one)) return false;
  const ir::Type verdict = c.op.region().block().terminator()->operand(0)->type();
  return c.scalar(verdict, "the comparator's value") &&
         c.element_in(verdict, kBool, "the comparator's value");
}

bool check_map(Check& c) {
  if (!c.at_least_operands(1) || !c.results(1) || !c.regions(1)) return false;
  for (int i = 0; i < c.op.operand_count(); ++i) {
    if (!c.same_dims(c.operand(i).dims(), c.result().dims(), "operand " + std::to_string(i)))
      return false;
  }
  Dims dimensions;
  if (!c.required_ints("dimensions", &dimensions)) return false;
  Dims all(c.operand(0).dims().size());
  std::iota(all.begin(), all.end(), 0);
  if (dimensions != all) {
    return c.fail("found dimensions that are not those of operand 0, expected 0 to " +
                  std::to_string(c.operand(0).rank() - 1) + " in order");
  }
  const std::vector<ir::Type> arguments(static_cast<std::size_t>(c.op.operand_count()));
  const ir::Type one[1] = {};
  if (!c.region_types(0, arguments, one)) return false;
  for (int i = 0; i < c.op.operand_count(); ++i) {
    const std::string what = "argument " + std::to_string(i) + " of the body";
    const ir::Type found = c.op.region().block().argument(i)->type();
    if (!c.scalar(found, what) || !c.same_element(found, c.operand(i), what)) return false;
  }
  const ir::Type value = c.op.region().block().terminator()->operand(0)->type();
  return c.scalar(value, "the body's value") &&
         c.same_element(value, c.result(), "the body's value") &&
         c.result_dims(0, c.operand(0).dims(), "the result");
}

}  // namespace millrace::devices::cpu::verify
