// chlo.ragged_dot as contractions. Where rows have groups, all rows by all groups, of which each
// row keeps its own; where terms have groups, both sides once for each group, with zeros outside of
// it. So nothing that is not finite reaches a group that is not its own.
#include <algorithm>
#include <numeric>

#include "millrace/devices/stablehlo/expand/chlo_expansion.h"
#include "millrace/devices/stablehlo/ir/contraction_dims.h"

namespace millrace::devices::stablehlo::expand {
namespace {

using K = ir::OpKind;
using X = Expression;

Numbers shifted(Numbers list, std::int64_t by) {
  for (std::int64_t& d : list) d += by;
  return list;
}
Numbers joined(Numbers a, const Numbers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Where `d` is in the list.
std::int64_t place_of(const Numbers& list, std::int64_t d) {
  return std::ranges::find(list, d) - list.begin();
}

ir::Type tensor(const X& like, const Numbers& dims) {
  return like.builder().module().types().tensor(dims, like.type().element());
}

// Sizes become the places where groups end.
X cumulative(const X& sizes) {
  Builder& t = sizes.builder();
  const auto rank = static_cast<std::size_t>(sizes.type().rank());
  const std::int64_t extent = sizes.type().dims().back();
  Numbers window(rank, 1);
  window.back() = extent;
  Numbers padding(rank * 2, 0);
  padding[(rank - 1) * 2] = extent - 1;
  const ir::Attribute padded =
      t.module().dense(t.module().types().tensor({sizes.type().rank(), 2}, DType::kI64), false,
                       std::as_bytes(std::span(padding)));
  const ir::NamedAttribute attributes[] = {{"window_dimensions", t.ints(window)},
                                           {"padding", padded}};
  const ir::Type type = sizes.type(), scalar = tensor(sizes, {});
  const X zero = t.number(scalar, 0);
  ir::Op* const op = t.add(K::kReduceWindow, {sizes, zero}, {&type, 1}, attributes, 1);
  const ir::Type both[] = {scalar, scalar};
  t.fill(op->region(), both, [](const Expressions& v) { return Expressions{v[0] + v[1]}; });
  return {t, op->result()};
}

X contraction(const X& a, const X& b, const Numbers& a_batch, const Numbers& b_batch,
              const Numbers& a_contract, const Numbers& b_contract, ir::Type type) {
  ir::Module& m = a.builder().module();
  const ir::DotDimsAttr dims{
      {}, m.copy(a_batch), m.copy(b_batch), m.copy(a_contract), m.copy(b_contract)};
  return a.builder().make(K::kDotGeneral, {a, b}, type,
                          {{"dot_dimension_numbers", m.attribute(dims)}});
}

class Groups {
 public:
  explicit Groups(const X& sizes) : ends_(cumulative(sizes)), starts_(ends_ - sizes) {}
  std::int64_t count() const { return ends_.type().dims().back(); }
  // The values whose place along dimension `ragged` is in the group; zeros elsewhere. of_sizes: the
  // dimensions of the values for those of the sizes, the last for the group.
  X inside(const X& values, std::int64_t ragged, const Numbers& of_sizes) const {
    Builder& t = values.builder();
    const auto dims = values.type().dims();
    const ir::Type places = tensor(ends_, {dims.begin(), dims.end()});
    const X at = t.iota(places, ragged);
    const X in = (at >= t.broadcast(starts_, of_sizes, places)) &
                 (at < t.broadcast(ends_, of_sizes, places));
    return select(in, values, 0);
  }

 private:
  X ends_, starts_;
};

// Rows by the matrices of all groups; of each row the one of its own.
X free_dot(const X& a, const X& b, const Groups& groups, const ir::RaggedDot& d,
           const Numbers& prefix, ir::Type result) {
  const Numbers rows = ir::RaggedDot::others(a.type().rank(), d.lhs_batch, d.lhs_contract),
                columns = ir::RaggedDot::others(b.type().rank(), d.rhs_batch, d.rhs_contract);
  const Numbers of_lhs = joined(d.lhs_batch, rows);
  const std::int64_t group =
      static_cast<std::int64_t>(of_lhs.size()) + place_of(columns, d.rhs_group[0]);
  Numbers dims(result.dims().begin(), result.dims().end());
  dims.insert(dims.begin() + group, groups.count());
  Builder& t = a.builder();
  const X all = contraction(a, b, d.lhs_batch, d.rhs_batch, d.lhs_contract, d.rhs_contract,
                            t.module().types().tensor(dims, result.element()));
  Numbers of_sizes;
  for (const std::int64_t x : prefix) of_sizes.push_back(place_of(of_lhs, x));
  of_sizes.push_back(group);
  const X own = groups.inside(all, place_of(of_lhs, d.lhs_ragged[0]), of_sizes);
  return t.reduce(K::kAdd, own, {group}, result);
}

// With a dimension of the groups in front of both sides, which is one of their batch.
X contract_dot(const X& a, const X& b, const Groups& groups, const ir::RaggedDot& d,
               const Numbers& prefix, ir::Type result) {
  const Numbers lhs = joined(d.lhs_batch, d.lhs_contract),
                rhs = joined(d.rhs_batch, d.rhs_contract);
  const auto masked = [&](const X& x, const Numbers& own) {
    const auto dimension = [&](std::int64_t of_lhs) {
      return own[static_cast<std::size_t>(place_of(lhs, of_lhs))] + 1;
    };
    Numbers dims = {groups.count()}, all(x.type().dims().size()), of_sizes;
    dims.insert(dims.end(), x.type().dims().begin(), x.type().dims().end());
    std::iota(all.begin(), all.end(), 1);
    for (const std::int64_t p : prefix) of_sizes.push_back(dimension(p));
    of_sizes.push_back(0);
    return groups.inside(x.builder().broadcast(x, all, tensor(x, dims)), dimension(d.lhs_ragged[0]),
                         of_sizes);
  };
  return contraction(masked(a, lhs), masked(b, rhs), joined({0}, shifted(d.lhs_batch, 1)),
                     joined({0}, shifted(d.rhs_batch, 1)), shifted(d.lhs_contract, 1),
                     shifted(d.rhs_contract, 1), result);
}

}  // namespace

std::optional<X> ragged_dot(const ir::Op& op, const Expressions& in) {
  const auto d = ir::ragged_dot_of(op);
  if (!d || in.size() != 3) return std::nullopt;
  const X &a = in[0], &b = in[1];
  const ir::Type sizes = in[2].type(), result = op.result()->type();
  if (!d->fits(a.type().rank(), b.type().rank()) || sizes.rank() == 0 || sizes.dims().back() == 0)
    return std::nullopt;
  if (d->mode() == ir::RaggedMode::kBatch) {
    return contraction(a, b, d->lhs_batch, d->rhs_batch, d->lhs_contract, d->rhs_contract, result);
  }
  // One list of sizes for all, or one for each place of the dimensions before.
  const Numbers prefix = sizes.rank() > 1 ? d->prefix(a.type().rank()) : Numbers();
  const Groups groups(in[2]);
  return d->mode() == ir::RaggedMode::kFree ? free_dot(a, b, groups, *d, prefix, result)
                                            : contract_dot(a, b, groups, *d, prefix, result);
}

}  // namespace millrace::devices::stablehlo::expand
