// chlo.ragged_dot as contractions. Where rows have groups, all rows by all groups, of which each
// row keeps its own; where terms have groups, both sides once for each group, with zeros outside of
// it. So nothing that is not finite reaches a group that is not its own.
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

std::string zero_of(ir::Type type) {
  return is_complex(type.dtype()) ? "(0.0, 0.0)" : is_floating(type.dtype()) ? "0.0" : "0";
}

// Where `d` is in the list.
std::int64_t place_of(const Numbers& list, std::int64_t d) {
  return std::ranges::find(list, d) - list.begin();
}

class Groups {
 public:
  Groups(Lines& t, const V& sizes, ir::Type type) : t_(t), type_(type) {
    ends_ = cumulative(t, sizes, type);
    starts_ = t.add("stablehlo.subtract " + ends_ + ", " + sizes + " : " + type.to_string());
  }
  std::int64_t count() const { return type_.dims().back(); }
  // For an array of these extents, of i1: whether the place along dimension `ragged` is in the
  // group. of_sizes: the dimensions of the array for those of the sizes, the last for the group.
  V inside(const Numbers& dims, std::int64_t ragged, const Numbers& of_sizes) {
    const std::string places = tensor(dims, type_.element().to_string()),
                      truths = tensor(dims, "i1");
    const V at = t_.add("stablehlo.iota dim = " + std::to_string(ragged) + " : " + places);
    const auto compared = [&](const char* direction, const V& bound) {
      const V all = t_.add("stablehlo.broadcast_in_dim " + bound + ", dims = " + list(of_sizes) +
                           " : (" + type_.to_string() + ") -> " + places);
      return t_.add("stablehlo.compare " + std::string(direction) + ", " + at + ", " + all +
                    " : (" + places + ", " + places + ") -> " + truths);
    };
    const V from = compared("GE", starts_), until = compared("LT", ends_);
    return t_.add("stablehlo.and " + from + ", " + until + " : " + truths);
  }

 private:
  Lines& t_;
  ir::Type type_;
  V starts_, ends_;
};

V where(Lines& t, const V& inside, const V& values, const Numbers& dims, ir::Type type) {
  const std::string whole = tensor(dims, type.element().to_string());
  const V zeros = t.add("stablehlo.constant dense<" + zero_of(type) + "> : " + whole);
  return t.add("stablehlo.select " + inside + ", " + values + ", " + zeros + " : " +
               tensor(dims, "i1") + ", " + whole);
}

struct Sides {
  V lhs, rhs;
  ir::Type lhs_type, rhs_type, result;
};

// Rows by the matrices of all groups; of each row the one of its own.
V free_dot(Lines& t, Groups& groups, const ir::RaggedDot& d, const Sides& s,
           const Numbers& prefix) {
  const Numbers rows = ir::RaggedDot::others(s.lhs_type.rank(), d.lhs_batch, d.lhs_contract),
                columns = ir::RaggedDot::others(s.rhs_type.rank(), d.rhs_batch, d.rhs_contract);
  const Numbers of_lhs = joined(d.lhs_batch, rows);
  const std::int64_t group =
      static_cast<std::int64_t>(of_lhs.size()) + place_of(columns, d.rhs_group[0]);
  Numbers dims(s.result.dims().begin(), s.result.dims().end());
  dims.insert(dims.begin() + group, groups.count());
  const std::string element = s.result.element().to_string();
  const V all = t.add(
      contraction(s.lhs, s.rhs, d.lhs_batch, d.rhs_batch, d.lhs_contract, d.rhs_contract) + "(" +
      s.lhs_type.to_string() + ", " + s.rhs_type.to_string() + ") -> " + tensor(dims, element));
  Numbers of_sizes;
  for (const std::int64_t x : prefix) of_sizes.push_back(place_of(of_lhs, x));
  of_sizes.push_back(group);
  const V inside = groups.inside(dims, place_of(of_lhs, d.lhs_ragged[0]), of_sizes);
  const V own = where(t, inside, all, dims, s.result);
  const V zero =
      t.add("stablehlo.constant dense<" + zero_of(s.result) + "> : tensor<" + element + ">");
  return t.add("stablehlo.reduce(" + own + " init: " + zero +
               ") applies stablehlo.add across dimensions = [" + std::to_string(group) + "] : (" +
               tensor(dims, element) + ", tensor<" + element + ">) -> " + s.result.to_string());
}

// With a dimension of the groups in front of both sides, which is one of their batch.
V contract_dot(Lines& t, Groups& groups, const ir::RaggedDot& d, const Sides& s,
               const Numbers& prefix) {
  const Numbers lhs = joined(d.lhs_batch, d.lhs_contract),
                rhs = joined(d.rhs_batch, d.rhs_contract);
  std::string types;
  const auto masked = [&](const V& v, ir::Type type, const Numbers& own) {
    const auto dimension = [&](std::int64_t of_lhs) {
      return own[static_cast<std::size_t>(place_of(lhs, of_lhs))] + 1;
    };
    Numbers dims = {groups.count()}, all(static_cast<std::size_t>(type.rank())), of_sizes;
    dims.insert(dims.end(), type.dims().begin(), type.dims().end());
    std::iota(all.begin(), all.end(), 1);
    for (const std::int64_t x : prefix) of_sizes.push_back(dimension(x));
    of_sizes.push_back(0);
    const std::string whole = tensor(dims, type.element().to_string());
    types += (types.empty() ? "(" : ", ") + whole;
    const V copies = t.add("stablehlo.broadcast_in_dim " + v + ", dims = " + list(all) + " : (" +
                           type.to_string() + ") -> " + whole);
    return where(t, groups.inside(dims, dimension(d.lhs_ragged[0]), of_sizes), copies, dims, type);
  };
  const V a = masked(s.lhs, s.lhs_type, lhs), b = masked(s.rhs, s.rhs_type, rhs);
  return t.add(contraction(a, b, joined({0}, shifted(d.lhs_batch, 1)),
                           joined({0}, shifted(d.rhs_batch, 1)), shifted(d.lhs_contract, 1),
                           shifted(d.rhs_contract, 1)) +
               types + ") -> " + s.result.to_string());
}

}  // namespace

std::optional<V> ragged_dot(const ir::Op& op, Lines& t, std::span<const V> in) {
  const auto d = ir::ragged_dot_of(op);
  if (!d || in.size() != 3) return std::nullopt;
  const Sides s{in[0], in[1], op.operand(0)->type(), op.operand(1)->type(), op.result()->type()};
  const ir::Type sizes = op.operand(2)->type();
  if (!d->fits(s.lhs_type.rank(), s.rhs_type.rank()) || sizes.rank() == 0 ||
      sizes.dims().back() == 0) {
    return std::nullopt;
  }
  if (d->mode() == ir::RaggedMode::kBatch) {
    return t.add(
        contraction(s.lhs, s.rhs, d->lhs_batch, d->rhs_batch, d->lhs_contract, d->rhs_contract) +
        "(" + s.lhs_type.to_string() + ", " + s.rhs_type.to_string() + ") -> " +
        s.result.to_string());
  }
  // One list of sizes for all, or one for each place of the dimensions before.
  const Numbers prefix = sizes.rank() > 1 ? d->prefix(s.lhs_type.rank()) : Numbers();
  Groups groups(t, in[2], sizes);
  return d->mode() == ir::RaggedMode::kFree ? free_dot(t, groups, *d, s, prefix)
                                            : contract_dot(t, groups, *d, s, prefix);
}

}  // namespace millrace::devices::cpu::bytecode
