// Operations that only move elements: for each element of the result, where it comes from.
#include <algorithm>

#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {
namespace {

// result[index] = operand[source(index)] for the first operand and result.
template <class F>
void move_each(const Call& c, F source) {
  const ConstArray& from = c.operands[0];
  const MutableArray& to = c.results[0];
  const std::size_t width = width_of(to.shape);
  const DimVector strides = dense_strides(from.shape);
  DimVector at(strides.size());
  each_index(to.shape.dims(), [&](const DimVector& index, std::int64_t linear) {
    source(index, at);
    copy_element(from.data, linear_of(at, strides), to.data, linear, width);
  });
}

}  // namespace

Status run_iota(const Call& c) {
  const MutableArray& to = c.results[0];
  const auto dimension = static_cast<std::size_t>(c.op.int_or("iota_dimension", 0));
  const DType type = to.shape.dtype();
  const bool integers = form_of(type) == Form::kSigned || form_of(type) == Form::kUnsigned;
  each_index(to.shape.dims(), [&](const DimVector& index, std::int64_t linear) {
    const Scalar value =
        integers ? from_signed(index[dimension]) : from_integer(type, index[dimension]);
    put(to, linear, value);
  });
  return {};
}

Status run_reshape(const Call& c) {
  copy_bytes(c.results[0].data, c.operands[0].data, c.results[0].shape.size_bytes());
  return {};
}

Status run_broadcast_in_dim(const Call& c) {
  const Shape& from = c.operands[0].shape;
  const auto rank = static_cast<std::size_t>(from.rank());
  Integers dims = ints_or(c, "broadcast_dimensions", rank, 0);
  if (c.op.kind() != ir::OpKind::kBroadcastInDim &&
      c.op.kind() != ir::OpKind::kDynamicBroadcastInDim) {
    for (std::size_t d = 0; d < rank; ++d)
      dims[d] = c.results[0].shape.rank() - from.rank() + static_cast<std::int64_t>(d);
  }
  move_each(c, [&](const DimVector& index, DimVector& at) {
    for (std::size_t d = 0; d < rank; ++d)
      at[d] = from.dim(static_cast<int>(d)) == 1 ? 0 : index[dims[d]];
  });
  return {};
}

Status run_transpose(const Call& c) {
  const auto permutation = c.ints("permutation");
  move_each(c, [&](const DimVector& index, DimVector& at) {
    for (std::size_t d = 0; d < permutation.size(); ++d) at[permutation[d]] = index[d];
  });
  return {};
}

Status run_reverse(const Call& c) {
  const auto dims = c.ints("dimensions");
  const Shape& shape = c.operands[0].shape;
  move_each(c, [&](const DimVector& index, DimVector& at) {
    at = index;
    for (std::int64_t d : dims) at[d] = shape.dim(static_cast<int>(d)) - 1 - index[d];
  });
  return {};
}

Status run_slice(const Call& c) {
  const auto rank = static_cast<std::size_t>(c.operands[0].shape.rank());
  const bool dynamic = c.op.kind() == ir::OpKind::kRealDynamicSlice;
  const Integers start =
                     dynamic ? index_vector(c.operands[1]) : ints_or(c, "start_indices", rank, 0),
                 step = dynamic ? index_vector(c.operands[3]) : ints_or(c, "strides", rank, 1);
  const Shape& from = c.operands[0].shape;
  for (std::size_t d = 0; dynamic && d < rank; ++d) {
    const std::int64_t n = c.results[0].shape.dim(static_cast<int>(d));
    if (start[d] < 0 || step[d] < 1 ||
        (n > 0 && start[d] + (n - 1) * step[d] >= from.dim(static_cast<int>(d)))) {
      return fail(ErrorCode::kOutOfRange, c.op.where() + ": the slice of dimension " +
                                              std::to_string(d) + " leaves the operand");
    }
  }
  move_each(c, [&](const DimVector& index, DimVector& at) {
    for (std::size_t d = 0; d < rank; ++d) at[d] = start[d] + index[d] * step[d];
  });
  return {};
}

Status run_pad(const Call& c) {
  const ConstArray &from = c.operands[0], &value = c.operands[1];
  const MutableArray& to = c.results[0];
  const auto rank = static_cast<std::size_t>(from.shape.rank());
  const bool dynamic = c.op.kind() == ir::OpKind::kDynamicPad;
  const Integers low = dynamic ? index_vector(c.operands[2])
                               : ints_or(c, "edge_padding_low", rank, 0),
                 interior = dynamic ? index_vector(c.operands[4])
                                    : ints_or(c, "interior_padding", rank, 0);
  const std::size_t width = width_of(to.shape);
  const DimVector strides = dense_strides(to.shape);
  for (std::int64_t e = 0; e < to.shape.elements(); ++e)
    copy_element(value.data, 0, to.data, e, width);
  each_index(from.shape.dims(), [&](const DimVector& index, std::int64_t linear) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t i = low[d] + index[d] * (interior[d] + 1);
      if (i < 0 || i >= to.shape.dim(static_cast<int>(d))) return;
      at += i * strides[d];
    }
    copy_element(from.data, linear, to.data, at, width);
  });
  return {};
}

Status run_concatenate(const Call& c) {
  const MutableArray& to = c.results[0];
  const auto dimension = static_cast<std::size_t>(c.op.int_or("dimension", 0));
  const DimVector strides = dense_strides(to.shape);
  const std::size_t width = width_of(to.shape);
  std::int64_t start = 0;
  for (const ConstArray& from : c.operands) {
    each_index(from.shape.dims(), [&](const DimVector& index, std::int64_t linear) {
      copy_element(from.data, linear, to.data,
                   linear_of(index, strides) + start * strides[dimension], width);
    });
    start += from.shape.dim(static_cast<int>(dimension));
  }
  return {};
}

Status run_get_dimension_size(const Call& c) {
  const auto dimension = static_cast<int>(c.op.int_or("dimension", 0));
  put(c.results[0], 0, from_signed(c.operands[0].shape.dim(dimension)));
  return {};
}

// A static result keeps its extent: another size would need one with bounds.
Status run_set_dimension_size(const Call& c) {
  const auto dimension = static_cast<int>(c.op.int_or("dimension", 0));
  const std::int64_t wanted = index_element(c.operands[1], 0);
  if (wanted != c.results[0].shape.dim(dimension)) {
    return fail(ErrorCode::kUnimplemented, c.op.where() + ": a size of " + std::to_string(wanted) +
                                               " in a result of " + c.results[0].shape.to_string() +
                                               " is not supported by the CPU device");
  }
  return run_reshape(c);
}

// The bits of all elements in a row, little-endian, in pieces of another width. Elements of fewer
// than eight bits lie in a byte each, so bits are moved one group at a time.
Status run_bitcast(const Call& c) {
  const ConstArray& from = c.operands[0];
  const MutableArray& to = c.results[0];
  const DType in = from.shape.dtype(), out = to.shape.dtype();
  const int in_bits = bit_width(in), out_bits = bit_width(out);
  if (in_bits % 8 == 0 && out_bits % 8 == 0) return run_reshape(c);
  if (in_bits > 64 || out_bits > 64)
    return fail(ErrorCode::kUnimplemented, c.op.where() + ": not supported for these elements");
  const int bits = std::min(in_bits, out_bits);
  const auto read = [&](std::int64_t group) {
    const std::int64_t per = in_bits / bits;
    std::uint64_t x = 0;
    std::memcpy(&x, from.data + static_cast<std::size_t>(group / per) * byte_width(in),
                std::min<std::size_t>(byte_width(in), 8));
    return (x >> (group % per * bits)) & (~std::uint64_t{0} >> (64 - bits));
  };
  const std::int64_t per = out_bits / bits;
  for (std::int64_t e = 0; e < to.shape.elements(); ++e) {
    std::uint64_t x = 0;
    for (std::int64_t g = 0; g < per; ++g) x |= read(e * per + g) << (g * bits);
    if (is_signed_integer(out) || is_unsigned_integer(out) || out == DType::kI1)
      put(to, e, from_unsigned(x));
    else
      std::memcpy(to.data + static_cast<std::size_t>(e) * byte_width(out), &x, byte_width(out));
  }
  return {};
}

}  // namespace millrace::devices::cpu::definition
