// Contractions. Integers wrap; floats are summed in long double and rounded once, so that any order
// of summation that a faster kernel takes can be compared with these.
#include "millrace/devices/cpu/reference/accumulate.h"
#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
namespace {

// Which dimensions of an operand are batch, free and contracted, and their strides.
struct Side {
  DimVector batch, free_dims, free, contract;
  Side(const Shape& shape, ir::Ints batching, ir::Ints contracting) {
    const DimVector strides = dense_strides(shape);
    for (std::int64_t d : batching) batch.push_back(strides[static_cast<std::size_t>(d)]);
    for (std::int64_t d : contracting) contract.push_back(strides[static_cast<std::size_t>(d)]);
    for (int d = 0; d < shape.rank(); ++d) {
      if (contains(batching, d) || contains(contracting, d)) continue;
      free_dims.push_back(shape.dim(d));
      free.push_back(strides[static_cast<std::size_t>(d)]);
    }
  }
};

DimVector extents(const Shape& shape, ir::Ints dims) {
  DimVector list;
  for (std::int64_t d : dims) list.push_back(shape.dim(static_cast<int>(d)));
  return list;
}

void contract(const Call& c, ir::Ints lhs_batch, ir::Ints rhs_batch, ir::Ints lhs_contract,
              ir::Ints rhs_contract) {
  const ConstArray &lhs = c.operands[0], &rhs = c.operands[1];
  const MutableArray& to = c.results[0];
  const DType type = to.shape.dtype();
  const Side l(lhs.shape, lhs_batch, lhs_contract), r(rhs.shape, rhs_batch, rhs_contract);
  const Terms a(lhs, type), b(rhs, type);
  std::int64_t out = 0;
  each_index(extents(lhs.shape, lhs_batch), [&](const DimVector& batch, std::int64_t) {
    const std::int64_t lb = linear_of(batch, l.batch), rb = linear_of(batch, r.batch);
    each_index(l.free_dims, [&](const DimVector& i, std::int64_t) {
      const std::int64_t li = lb + linear_of(i, l.free);
      each_index(r.free_dims, [&](const DimVector& j, std::int64_t) {
        const std::int64_t rj = rb + linear_of(j, r.free);
        Sum sum;
        each_index(extents(lhs.shape, lhs_contract), [&](const DimVector& k, std::int64_t) {
          sum.add(a, li + linear_of(k, l.contract), b, rj + linear_of(k, r.contract));
        });
        store(type, sum.value(type), to.data + static_cast<std::size_t>(out++) * byte_width(type));
      });
    });
  });
}

}  // namespace

Status run_dot(const Call& c) {
  if (const auto* d = c.op.attr<ir::DotDimsAttr>("dot_dimension_numbers")) {
    contract(c, d->lhs_batching, d->rhs_batching, d->lhs_contracting, d->rhs_contracting);
    return {};
  }
  // The old dot: the last dimension of the left side, the first of the right one.
  const std::int64_t last[] = {c.operands[0].shape.rank() - 1}, first[] = {0};
  contract(c, {}, {}, last, first);
  return {};
}

}  // namespace millrace::devices::cpu::reference
