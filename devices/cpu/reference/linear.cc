// Contractions by their definition: dot_general, dot, einsum. Integers wrap.
#include "millrace/devices/cpu/ir/einsum.h"
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

// Sums over the labels that the result does not have. unary_einsum is the product with one.
Status run_einsum(const Call& c) {
  const auto count = c.operands.size();
  const auto config =
      ir::parse_einsum(c.op.string_or("einsum_config", ""), static_cast<int>(count));
  if (!config) return fail(ErrorCode::kInvalidArgument, c.op.where() + ": no configuration");
  // All labels, those of the result first, with their extents and each operand's strides.
  std::string labels = config->result;
  for (const std::string& operand : config->operands) {
    for (char label : operand) {
      if (labels.find(label) == std::string::npos) labels += label;
    }
  }
  if (labels.size() > static_cast<std::size_t>(kMaxRank))
    return fail(ErrorCode::kUnimplemented, c.op.where() + ": too many dimensions");
  DimVector extents(labels.size());
  DimVector strides[2] = {DimVector(labels.size()), DimVector(labels.size())};
  for (std::size_t i = 0; i < count; ++i) {
    const DimVector dense = dense_strides(c.operands[i].shape);
    for (std::size_t d = 0; d < dense.size(); ++d) {
      const std::size_t at = labels.find(config->operands[i][d]);
      extents[at] = c.operands[i].shape.dim(static_cast<int>(d));
      strides[i][at] += dense[d];
    }
  }
  const MutableArray& to = c.results[0];
  const DType type = to.shape.dtype();
  const std::int64_t one_dims[] = {1};
  std::byte one[16] = {};
  const Scalar unit = form_of(type) >= Form::kReal ? from_real(1.0) : from_unsigned(1);
  store(type, unit, one);
  const ConstArray ones{Shape(type, one_dims), one};
  const Terms a(c.operands[0], type), b(count == 2 ? c.operands[1] : ones, type);
  const std::span<const std::int64_t> all = extents;
  const std::size_t kept = config->result.size();
  each_index(all.first(kept), [&](const DimVector& outer, std::int64_t linear) {
    Sum sum;
    each_index(all.subspan(kept), [&](const DimVector& inner, std::int64_t) {
      std::int64_t i = 0, j = 0;
      for (std::size_t d = 0; d < labels.size(); ++d) {
        const std::int64_t index = d < kept ? outer[d] : inner[d - kept];
        i += index * strides[0][d];
        j += index * strides[1][d];
      }
      sum.add(a, i, b, j);
    });
    store(type, sum.value(type), to.data + static_cast<std::size_t>(linear) * byte_width(type));
  });
  return {};
}

}  // namespace millrace::devices::cpu::reference
