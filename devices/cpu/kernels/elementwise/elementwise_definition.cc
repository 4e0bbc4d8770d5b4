#include <algorithm>
#include <cstring>

#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {
namespace {

constexpr std::int64_t kBlock = 256;

// The elements of an operand, a block at a time: repeated to the result's dimensions by numpy's
// rule, which CHLO's broadcast ops have; a scalar stands for any number of equal ones.
class Reader {
 public:
  Reader(const ConstArray& array, const Shape& to)
      : array_(array),
        one_(array.shape.rank() == 0 && to.elements() != 1),
        dense_(std::ranges::equal(array.shape.dims(), to.dims())),
        dims_(to.dims()),
        strides_(dims_.size()) {
    if (dense_ || one_) return;
    const DimVector own = dense_strides(array.shape);
    const std::size_t missing = strides_.size() - own.size();
    for (std::size_t d = 0; d < own.size(); ++d)
      strides_[missing + d] = array.shape.dim(static_cast<int>(d)) == 1 ? 0 : own[d];
  }
  void read(std::int64_t start, std::int64_t n, Scalar* to) const {
    const DType type = array_.shape.dtype();
    if (one_)
      std::fill_n(to, n, load(type, array_.data));
    else if (dense_)
      load(type, array_.data + static_cast<std::size_t>(start) * byte_width(type), n, to);
    else
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = element(array_, place_of(start + i, dims_, strides_));
  }

 private:
  const ConstArray& array_;
  const bool one_, dense_;
  const DimVector dims_;
  DimVector strides_;
};

}  // namespace

Status run_elementwise(const Call& c) {
  const auto typical = static_cast<std::size_t>(typical_operand(c.op.kind()));
  const MutableArray& to = c.results[0];
  const auto op = find_scalar_op(c.op, c.operands[typical].shape.dtype(), to.shape.dtype());
  if (!op) {
    return fail(ErrorCode::kUnimplemented,
                c.op.where() + ": elements of " +
                    std::string(to_string(c.operands[typical].shape.dtype())) +
                    " are not supported by the CPU device");
  }
  const std::int64_t elements = to.shape.elements();
  const std::size_t width = width_of(to.shape);
  // As many as a function may have; more are not read.
  const std::size_t count = std::min<std::size_t>(c.operands.size(), 3);
  const auto reader = [&](std::size_t i) {
    return Reader(c.operands[std::min(i, count - 1)], to.shape);
  };
  const Reader from[3] = {reader(0), reader(1), reader(2)};
  const auto is_real = [](const Shape& shape) {
    const Form form = form_of(shape.dtype());
    return form == Form::kReal || form == Form::kReal64;
  };
  // To another real type: what is stored is rounded, and that is all.
  const bool only_rounds =
      c.op.kind() == ir::OpKind::kConvert && is_real(c.operands[0].shape) && is_real(to.shape);
  Scalar in[3][kBlock], out[kBlock];
  for (std::int64_t start = 0; start < elements; start += kBlock) {
    const std::int64_t n = std::min(kBlock, elements - start);
    if (only_rounds) {
      from[0].read(start, n, out);
      store(to.shape.dtype(), out, n, to.data + static_cast<std::size_t>(start) * width);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) from[i].read(start, n, in[i]);
    for (std::int64_t e = 0; e < n; ++e) {
      const Scalar operands[3] = {in[0][e], in[1][e], in[2][e]};
      out[e] = op->function(operands, op->info);
    }
    store(to.shape.dtype(), out, n, to.data + static_cast<std::size_t>(start) * width);
  }
  return {};
}

Status run_map(const Call& c) {
  const MutableArray& to = c.results[0];
  const std::int64_t elements = to.shape.elements();
  Body::Frame frame = c.frame(0);
  if (c.scratch.measures()) return {};
  for (std::int64_t e = 0; e < elements; ++e) {
    for (std::size_t i = 0; i < c.operands.size(); ++i)
      frame.argument(static_cast<int>(i)) = element(c.operands[i], e);
    frame.run();
    put(to, e, frame.result(0));
  }
  return frame.status();
}

Status run_constant(const Call& c) {
  const auto* dense = c.op.attr<ir::DenseAttr>("value");
  if (dense == nullptr)
    return fail(ErrorCode::kUnimplemented, c.op.where() + ": a constant that is not dense");
  const MutableArray& to = c.results[0];
  const std::size_t width = width_of(to.shape);
  if (!dense->splat) {
    copy_bytes(to.data, dense->bytes.data(), to.shape.size_bytes());
    return {};
  }
  for (std::int64_t e = 0; e < to.shape.elements(); ++e)
    copy_element(dense->bytes.data(), 0, to.data, e, width);
  return {};
}

Status run_constant_like(const Call& c) {
  const ir::Attribute value = c.op.attr("value");
  const MutableArray& to = c.results[0];
  Scalar s;
  if (const auto* f = value.as<ir::FloatAttr>()) {
    s = from_real(f->value());
  } else if (const auto* i = value.as<ir::IntegerAttr>()) {
    s = is_floating(to.shape.dtype()) ? from_integer(to.shape.dtype(), i->value)
                                      : from_signed(i->value);
  } else {
    return fail(ErrorCode::kUnimplemented, c.op.where() + ": a value that is no number");
  }
  fill(to, s);
  return {};
}

Status run_identity(const Call& c) {
  for (std::size_t i = 0; i < c.results.size(); ++i)
    copy_bytes(c.results[i].data, c.operands[i].data, c.results[i].shape.size_bytes());
  return {};
}

Status run_zero(const Call& c) {
  for (const MutableArray& to : c.results) clear_bytes(to.data, to.shape.size_bytes());
  return {};
}

// One process sends to itself, or gets zeros.
Status run_collective_permute(const Call& c) {
  return c.ints("source_target_pairs").empty() ? run_zero(c) : run_identity(c);
}

}  // namespace millrace::devices::cpu::definition
