#include "millrace/devices/stablehlo/spread/reducer.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;

bool is_scalar(const ir::Value& v) { return v.type().is_tensor() && v.type().rank() == 0; }

// A constant of one number, whose bytes are those of any array of it.
bool is_number(const ir::Op& op) {
  return op.kind() == K::kConstant && op.attr<ir::DenseAttr>("value") != nullptr &&
         op.result()->type().element().quant() == nullptr && is_scalar(*op.result());
}

}  // namespace

bool Reducer::can_lift() const {
  return std::ranges::all_of(body_, [&](const ir::Op& op) {
    if (&op == body_.terminator() || is_number(op)) return true;
    return verify::elements_of(op.kind()).operands > 0 && op.result_count() == 1 &&
           is_scalar(*op.result()) &&
           std::ranges::all_of(op.operands(), [](const ir::Value* v) { return is_scalar(*v); });
  });
}

ir::Value* Reducer::lifted(Maker& make, ir::Value* a, ir::Value* b) const {
  const auto dims = a->type().dims();
  std::unordered_map<const ir::Value*, ir::Value*> arrays = {{body_.argument(0), a},
                                                             {body_.argument(1), b}};
  const auto array_of = [&](const ir::Value* v) {
    ir::Value*& array = arrays[v];
    if (array == nullptr) array = make.broadcast(outside_(v), dims, {});
    return array;
  };
  for (const ir::Op& op : body_) {
    if (&op == body_.terminator()) break;
    const ir::Type type = make.module().types().tensor(dims, op.result()->type().element());
    const ir::Type types[] = {type};
    if (is_number(op)) {
      const auto* number = op.attr<ir::DenseAttr>("value");
      const ir::NamedAttribute value[] = {
          {"value", make.module().dense(type, true, number->bytes)}};
      arrays[op.result()] = make.op(K::kConstant, {}, types, value)->result();
      continue;
    }
    std::vector<ir::Value*> operands;
    for (const ir::Value* v : op.operands()) operands.push_back(array_of(v));
    arrays[op.result()] = make.op(op.kind(), operands, types, op.attributes())->result();
  }
  return array_of(body_.terminator()->operand(0));
}

Result<ir::Value*> Reducer::mapped(Maker& make, ir::Value* a, ir::Value* b) const {
  ir::Value* const operands[] = {a, b};
  const ir::Type types[] = {a->type()};
  std::vector<std::int64_t> dimensions(a->type().dims().size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  const ir::NamedAttribute attributes[] = {{"dimensions", make.module().integers(dimensions)}};
  ir::Op* map = make.op(K::kMap, operands, types, attributes, 1);
  MILLRACE_TRY_STATUS(copy_(region_, map->region()));
  return map->result();
}

Result<ir::Value*> Reducer::fold(Maker& make, std::span<ir::Value* const> arrays) const {
  const bool lifts = can_lift();
  ir::Value* sum = arrays.front();
  for (ir::Value* array : arrays.subspan(1)) {
    if (lifts) {
      sum = lifted(make, sum, array);
    } else {
      MILLRACE_TRY(sum, mapped(make, sum, array));
    }
  }
  return sum;
}

}  // namespace millrace::devices::stablehlo::spread
