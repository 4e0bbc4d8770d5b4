// chlo.ragged_dot as contractions: the left side once for each group, with zeros outside of that.
#include <algorithm>
#include <numeric>

#include "millrace/devices/cpu/bytecode/chlo_functions.h"
#include "millrace/devices/cpu/ir/ragged_dot.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using V = Lines::V;
using Numbers = std::vector<std::int64_t>;

Numbers shifted(Numbers list, std::int64_t by) {
  for (std::int64_t& d : list) d += by;
  return list;
}
Numbers joined(Numbers a, const Numbers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Sizes become the places where groups end.
V cumulative(Lines& t, const V& sizes, ir::Type type) {
  const std::string whole = type.to_string(), element = type.element().to_string(),
                    scalar = "tensor<" + element + ">";
  std::string window, padding;
  for (int d = 0; d < type.rank(); ++d) {
    const bool last = d + 1 == type.rank();
    const std::int64_t extent = last ? type.dims().back() : 1;
    window += (d == 0 ? "" : ", ") + std::to_string(extent);
    padding += (d == 0 ? "[" : ", [") + std::to_string(extent - 1) + ", 0]";
  }
  const V zero = t.add("stablehlo.constant dense<0> : " + scalar);
  return t.add("\"stablehlo.reduce_window\"(" + sizes + ", " + zero +
               ") <{window_dimensions = array<i64: " + window + ">, padding = dense<[" + padding +
               "]> : tensor<" + std::to_string(type.rank()) + "x2xi64>}> ({\n  ^bb0(%x: " + scalar +
               ", %y: " + scalar + "):\n    %s = stablehlo.add %x, %y : " + scalar +
               "\n    \"stablehlo.return\"(%s) : (" + scalar + ") -> ()\n  }) : (" + whole + ", " +
               scalar + ") -> " + whole);
}

std::string contraction(const V& a, const V& b, const Numbers& a_batch, const Numbers& b_batch,
                        const Numbers& a_contract, const Numbers& b_contract) {
  std::string text = "stablehlo.dot_general " + a + ", " + b;
  if (!a_batch.empty()) text += ", batching_dims = " + list(a_batch) + " x " + list(b_batch);
  return text + ", contracting_dims = " + list(a_contract) + " x " + list(b_contract) + " : ";
}

}  // namespace

std::optional<V> ragged_dot(const ir::Op& op, Lines& t, std::span<const V> in) {
  const auto d = ir::ragged_dot_of(op);
  if (!d || in.size() != 3) return std::nullopt;
  const ir::Type lhs = op.operand(0)->type(), rhs = op.operand(1)->type(),
                 sizes = op.operand(2)->type(), result = op.result()->type();
  const std::string to = ", " + rhs.to_string() + ") -> ";
  if (!d->fits(lhs.rank(), rhs.rank()) || sizes.rank() == 0 || sizes.dims().back() == 0)
    return std::nullopt;
  if (d->mode() == ir::RaggedMode::kBatch) {
    return t.add(
        contraction(in[0], in[1], d->lhs_batch, d->rhs_batch, d->lhs_contract, d->rhs_contract) +
        "(" + lhs.to_string() + to + result.to_string());
  }
  // In front a dimension of the groups.
  const std::int64_t groups = sizes.dims().back();
  Numbers dims = {groups};
  dims.insert(dims.end(), lhs.dims().begin(), lhs.dims().end());
  const std::string element = lhs.element().to_string(), index = sizes.element().to_string(),
                    whole = tensor(dims, element), places = tensor(dims, index),
                    truths = tensor(dims, "i1");
  const auto spread = [&](const V& v, const std::string& from, const Numbers& to_dims,
                          const std::string& type) {
    return t.add("stablehlo.broadcast_in_dim " + v + ", dims = " + list(to_dims) + " : (" + from +
                 ") -> " + type);
  };
  const V ends = cumulative(t, in[2], sizes);
  const V starts = t.add("stablehlo.subtract " + ends + ", " + in[2] + " : " + sizes.to_string());
  const Numbers of_sizes =
      joined(sizes.rank() > 1 ? shifted(d->prefix(lhs.rank()), 1) : Numbers(), {0});
  const V at =
      t.add("stablehlo.iota dim = " + std::to_string(d->lhs_ragged[0] + 1) + " : " + places);
  const auto compared = [&](const char* direction, const V& bound) {
    const V all = spread(bound, sizes.to_string(), of_sizes, places);
    return t.add("stablehlo.compare " + std::string(direction) + ", " + at + ", " + all + " : (" +
                 places + ", " + places + ") -> " + truths);
  };
  const V from = compared("GE", starts), until = compared("LT", ends);
  const V inside = t.add("stablehlo.and " + from + ", " + until + " : " + truths);
  Numbers own(static_cast<std::size_t>(lhs.rank()));
  std::iota(own.begin(), own.end(), 1);
  const V copies = spread(in[0], lhs.to_string(), own, whole);
  const std::string nothing = is_complex(lhs.dtype())    ? "(0.0, 0.0)"
                              : is_floating(lhs.dtype()) ? "0.0"
                                                         : "0";
  const V zeros = t.add("stablehlo.constant dense<" + nothing + "> : " + whole);
  const V masked = t.add("stablehlo.select " + inside + ", " + copies + ", " + zeros + " : " +
                         truths + ", " + whole);
  const Numbers batch = shifted(d->lhs_batch, 1), contract = shifted(d->lhs_contract, 1);
  if (d->mode() == ir::RaggedMode::kFree) {
    return t.add(contraction(masked, in[1], batch, d->rhs_batch, joined({0}, contract),
                             joined(d->rhs_group, d->rhs_contract)) +
                 "(" + whole + to + result.to_string());
  }
  // The groups come behind the batch: their dimension moves to the front.
  const std::size_t first = batch.size();
  Numbers made(result.dims().begin(), result.dims().end()), order(made.size());
  std::rotate(made.begin(), made.begin() + 1,
              made.begin() + 1 + static_cast<std::ptrdiff_t>(first));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first),
              order.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  const std::string type = tensor(made, result.element().to_string());
  const V product =
      t.add(contraction(masked, in[1], batch, d->rhs_batch, contract, d->rhs_contract) + "(" +
            whole + to + type);
  return t.add("stablehlo.transpose " + product + ", dims = " + list(order) + " : (" + type +
               ") -> " + result.to_string());
}

}  // namespace millrace::devices::cpu::bytecode
