#include "millrace/devices/stablehlo/specialise/known.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "millrace/devices/stablehlo/ir/dense_bytes.h"
#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::stablehlo::specialise {
namespace {

using K = ir::OpKind;
__extension__ using Wide = __int128;

bool is_small(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape.dims()) {
    if (d == 0) return true;
    if (d > kMaxKnownElements / n) return false;
    n *= d;
  }
  return true;
}

bool is_whole(DType type) {
  return type == DType::kI1 || is_signed_integer(type) || is_unsigned_integer(type);
}

bool is_elementwise(K kind) {
  switch (kind) {
#define MILLRACE_OP_ELEMENTS(kind, operands, elements, outcome) case K::kind:
#include "millrace/devices/stablehlo/ir/ops.inc"
    return ir::to_string(kind).starts_with("stablehlo.");
    default:
      return false;
  }
}

// Whether shapes are computed with an operation, and exactly: those that move elements, and of the
// others these, and with integers (whole) each that works element by element.
bool folds(K kind, bool whole) {
  using enum ir::OpKind;
  constexpr K kMoves[] = {kPad,     kIota,      kSlice,       kGather,       kReshape,
                          kReverse, kTranspose, kConcatenate, kDynamicSlice, kBroadcastInDim};
  constexpr K kExact[] = {
      kAbs,    kAdd,     kCeil,    kClamp,    kCompare, kConvert,         kDivide,
      kFloor,  kMaximum, kMinimum, kMultiply, kNegate,  kRoundNearestAfz, kRoundNearestEven,
      kSelect, kSign,    kSubtract};
  if (std::ranges::find(kMoves, kind) != std::end(kMoves) || kind == kDynamicUpdateSlice ||
      kind == kOptimizationBarrier)
    return true;
  if (!whole) return std::ranges::find(kExact, kind) != std::end(kExact);
  return is_elementwise(kind) || kind == kBitcastConvert || kind == kReduce || kind == kSort;
}

// An element of integers or i1.
Wide number(const Known& k, std::size_t i) {
  const DType type = k.shape.dtype();
  const std::int64_t value = ir::load_int(k.bytes.data() + i * byte_width(type), type);
  return is_signed_integer(type) ? Wide{value} : Wide{static_cast<std::uint64_t>(value)};
}

// Whether an element of the result is not the number that the operation has in mathematics.
bool leaves_range(const ir::Op& op, std::span<const KnownRef> operands, const Known& result) {
  if (!is_whole(result.shape.dtype()) || result.shape.dtype() == DType::kI1) return false;
  for (const KnownRef& operand : operands) {
    if (!is_whole(operand->shape.dtype())) return false;
  }
  const auto n = static_cast<std::size_t>(result.shape.elements());
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = [&](std::size_t operand) { return number(*operands[operand], i); };
    switch (op.kind()) {
      case K::kAdd:
        if (at(0) + at(1) != number(result, i)) return true;
        break;
      case K::kSubtract:
        if (at(0) - at(1) != number(result, i)) return true;
        break;
      case K::kMultiply:
        if (at(0) * at(1) != number(result, i)) return true;
        break;
      case K::kNegate:
        if (-at(0) != number(result, i)) return true;
        break;
      case K::kConvert:
        if (at(0) != number(result, i)) return true;
        break;
      case K::kDivide:
      case K::kRemainder:
        if (at(1) == 0) return true;
        break;
      default:
        return false;
    }
  }
  return false;
}

// A select of one predicate has nothing to do with the side that it does not take.
std::string inherited(const ir::Op& op, std::span<const KnownRef> operands) {
  if (op.kind() == K::kSelect && operands[0]->shape.rank() == 0 && operands[0]->overflow.empty()) {
    return operands[operands[0]->bytes[0] != std::byte{0} ? 1 : 2]->overflow;
  }
  for (const KnownRef& operand : operands) {
    if (!operand->overflow.empty()) return operand->overflow;
  }
  return "";
}

}  // namespace

KnownRef known_constant(const ir::Op& constant) {
  const auto* value = constant.attr<ir::DenseAttr>("value");
  const ir::Type type = constant.result()->type();
  const auto shape = ir::memory_shape(type);
  if (value == nullptr || !shape || !is_small(*shape) || type.dtype() == DType::kInvalid)
    return nullptr;
  const std::size_t size = shape->size_bytes();
  const std::size_t width = byte_width(shape->dtype());
  auto known = std::make_shared<Known>();
  known->shape = *shape;
  known->bytes.resize(size);
  if (value->splat && value->bytes.size() == width) {
    for (std::size_t at = 0; at < size; at += width)
      std::memcpy(known->bytes.data() + at, value->bytes.data(), width);
  } else if (value->bytes.size() == size) {
    std::ranges::copy(value->bytes, known->bytes.begin());
  } else {
    return nullptr;
  }
  return known;
}

KnownRef known_scalar(DType type, std::int64_t value) {
  auto known = std::make_shared<Known>();
  known->shape = Shape(type, {});
  known->bytes.resize(byte_width(type));
  std::memcpy(known->bytes.data(), &value, known->bytes.size());
  const int bits = bit_width(type) - (is_signed_integer(type) ? 1 : 0);
  const Wide least = is_signed_integer(type) ? -(Wide{1} << bits) : 0;
  return value >= least && value < Wide{1} << bits ? known : nullptr;
}

KnownRef fold(const ir::Module& module, const ir::Op& op, std::span<const KnownRef> operands,
              Evaluate evaluate) {
  if (op.result_count() != 1 || std::ranges::find(operands, nullptr) != operands.end())
    return nullptr;
  const auto shape = ir::memory_shape(op.result()->type());
  if (!shape || !is_small(*shape) || !folds(op.kind(), is_whole(shape->dtype()))) return nullptr;
  auto known = std::make_shared<Known>();
  known->shape = *shape;
  known->bytes.resize(shape->size_bytes());
  if (!evaluate(module, op, operands, *known)) return nullptr;
  known->overflow = inherited(op, operands);
  if (known->overflow.empty() && leaves_range(op, operands, *known)) known->overflow = op.where();
  return known;
}

std::vector<KnownRef> KnownValues::operator()(std::span<ir::Value* const> values) const {
  std::vector<KnownRef> list;
  for (const ir::Value* v : values) list.push_back((*this)(v));
  return list;
}

Dims integers(const Known& known) {
  Dims list;
  const auto n = static_cast<std::size_t>(known.shape.elements());
  for (std::size_t i = 0; i < n; ++i) {
    const Wide most = std::numeric_limits<std::int64_t>::max();
    list.push_back(static_cast<std::int64_t>(std::min(number(known, i), most)));
  }
  return list;
}

std::string to_string(const Known& known) {
  const DType type = known.shape.dtype();
  // The real part of a complex number.
  const DType part = type == DType::kC64 ? DType::kF32 : type == DType::kC128 ? DType::kF64 : type;
  std::string text;
  const auto n = static_cast<std::size_t>(known.shape.elements());
  for (std::size_t i = 0; i < n; ++i) {
    if (i != 0) text += ", ";
    if (type == DType::kI1) {
      text += known.bytes[i] != std::byte{0} ? "true" : "false";
    } else if (is_whole(type)) {
      const Wide value = number(known, i);
      text += is_signed_integer(type) ? std::to_string(static_cast<std::int64_t>(value))
                                      : std::to_string(static_cast<std::uint64_t>(value));
    } else {
      std::uint64_t bits = 0;
      std::memcpy(&bits, known.bytes.data() + i * byte_width(type), byte_width(part));
      text += std::to_string(ir::decode_float(part, bits));
    }
  }
  return text;
}

bool same(const KnownRef& a, const KnownRef& b) {
  return a != nullptr && b != nullptr && a->shape == b->shape && a->bytes == b->bytes;
}

}  // namespace millrace::devices::stablehlo::specialise
