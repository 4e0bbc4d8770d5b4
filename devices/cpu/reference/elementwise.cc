#include <algorithm>
#include <cstring>

#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
namespace {

constexpr std::int64_t kBlock = 256;

// The elements of an operand, a block at a time; a scalar stands for any number of equal ones.
class Reader {
 public:
  Reader(const ConstArray& array, std::int64_t elements)
      : array_(array), one_(array.shape.rank() == 0 && elements != 1) {}
  void read(std::int64_t start, std::int64_t n, Scalar* to) const {
    const DType type = array_.shape.dtype();
    if (one_)
      std::fill_n(to, n, load(type, array_.data));
    else
      load(type, array_.data + static_cast<std::size_t>(start) * byte_width(type), n, to);
  }

 private:
  const ConstArray& array_;
  bool one_;
};

// The operand repeated to the result's dimensions by numpy's rule, which CHLO's broadcast ops have.
std::vector<std::byte> repeated(const ConstArray& from, const Shape& to) {
  const std::size_t width = width_of(from.shape);
  std::vector<std::byte> bytes(static_cast<std::size_t>(to.elements()) * width);
  const DimVector strides = dense_strides(from.shape);
  const auto missing = static_cast<std::size_t>(to.rank() - from.shape.rank());
  each_index(to.dims(), [&](const DimVector& index, std::int64_t linear) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      if (from.shape.dim(static_cast<int>(d)) != 1) at += index[missing + d] * strides[d];
    }
    copy_element(from.data, at, bytes.data(), linear, width);
  });
  return bytes;
}

std::vector<Reader> readers(const std::vector<ConstArray>& operands, std::int64_t elements) {
  std::vector<Reader> list;
  for (const ConstArray& operand : operands) list.emplace_back(operand, elements);
  return list;
}

}  // namespace

std::vector<std::int64_t> ints_or(const ir::Op& op, std::string_view name, std::size_t n,
                                  std::int64_t otherwise) {
  auto found = op.ints(name);
  return found && found->size() == n ? *std::move(found) : std::vector<std::int64_t>(n, otherwise);
}

std::vector<Scalar> load_all(const ConstArray& array) {
  std::vector<Scalar> values(static_cast<std::size_t>(array.shape.elements()));
  load(array.shape.dtype(), array.data, array.shape.elements(), values.data());
  return values;
}

void store_all(const std::vector<Scalar>& values, const MutableArray& array) {
  store(array.shape.dtype(), values.data(), array.shape.elements(), array.data);
}

std::vector<std::int64_t> index_vector(const ConstArray& array) {
  std::vector<std::int64_t> list;
  for (const Scalar& s : load_all(array)) list.push_back(as_index(array.shape.dtype(), s));
  return list;
}

Status run_elementwise(const Call& c) {
  const std::size_t typical =
      c.op.kind() == ir::OpKind::kSelect || c.op.kind() == ir::OpKind::kClamp ? 1 : 0;
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
  std::vector<ConstArray> operands(c.operands.begin(), c.operands.end());
  std::vector<std::vector<std::byte>> memory;
  for (ConstArray& operand : operands) {
    const bool fits = std::ranges::equal(operand.shape.dims(), to.shape.dims());
    if (fits || operand.shape.rank() == 0) continue;
    memory.push_back(repeated(operand, to.shape));
    operand = {Shape(operand.shape.dtype(), to.shape.dims()), memory.back().data()};
  }
  const auto from = readers(operands, elements);
  Scalar in[3][kBlock], out[kBlock];
  for (std::int64_t start = 0; start < elements; start += kBlock) {
    const std::int64_t n = std::min(kBlock, elements - start);
    for (std::size_t i = 0; i < from.size(); ++i) from[i].read(start, n, in[i]);
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
  const std::size_t width = width_of(to.shape);
  Body::Frame frame(c.bodies[0]);
  for (std::int64_t e = 0; e < elements; ++e) {
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
      const ConstArray& from = c.operands[i];
      frame.argument(static_cast<int>(i)) =
          load(from.shape.dtype(), from.data + static_cast<std::size_t>(e) * width_of(from.shape));
    }
    frame.run();
    store(to.shape.dtype(), frame.result(0), to.data + static_cast<std::size_t>(e) * width);
  }
  return {};
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
  store_all(std::vector<Scalar>(static_cast<std::size_t>(to.shape.elements()), s), to);
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

// Of one process: it sends to itself, or nobody sends and it gets zeros.
Status run_collective_permute(const Call& c) {
  const auto pairs = c.op.ints("source_target_pairs").value_or(std::vector<std::int64_t>{});
  return pairs.empty() ? run_zero(c) : run_identity(c);
}

}  // namespace millrace::devices::cpu::reference
