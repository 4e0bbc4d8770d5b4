#include "millrace/devices/cpu/refine/known.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "millrace/devices/cpu/reference/kernel.h"
#include "millrace/devices/cpu/reference/scalar.h"

namespace millrace::devices::cpu::refine {
namespace {

using ir::OpKind;
using reference::Form;
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
  const Form form = reference::form_of(type);
  return form == Form::kBool || form == Form::kSigned || form == Form::kUnsigned;
}

// Operations that shapes are computed with, and what they do to floats exactly.
bool folds(OpKind kind, bool whole) {
  switch (kind) {
    case OpKind::kAbs:
    case OpKind::kAdd:
    case OpKind::kBroadcastInDim:
    case OpKind::kCeil:
    case OpKind::kClamp:
    case OpKind::kCompare:
    case OpKind::kConcatenate:
    case OpKind::kConvert:
    case OpKind::kDivide:
    case OpKind::kDynamicSlice:
    case OpKind::kDynamicUpdateSlice:
    case OpKind::kFloor:
    case OpKind::kGather:
    case OpKind::kIota:
    case OpKind::kMaximum:
    case OpKind::kMinimum:
    case OpKind::kMultiply:
    case OpKind::kNegate:
    case OpKind::kOptimizationBarrier:
    case OpKind::kPad:
    case OpKind::kReshape:
    case OpKind::kReverse:
    case OpKind::kRoundNearestAfz:
    case OpKind::kRoundNearestEven:
    case OpKind::kSelect:
    case OpKind::kSign:
    case OpKind::kSlice:
    case OpKind::kSubtract:
    case OpKind::kTranspose:
      return true;
    case OpKind::kAnd:
    case OpKind::kBitcastConvert:
    case OpKind::kCountLeadingZeros:
    case OpKind::kNot:
    case OpKind::kOr:
    case OpKind::kPopcnt:
    case OpKind::kPower:
    case OpKind::kReduce:
    case OpKind::kRemainder:
    case OpKind::kShiftLeft:
    case OpKind::kShiftRightArithmetic:
    case OpKind::kShiftRightLogical:
    case OpKind::kSort:
    case OpKind::kXor:
      return whole;
    default:
      return false;
  }
}

Wide number(const Known& k, std::size_t i) {
  const DType type = k.shape.dtype();
  const reference::Scalar x = reference::load(type, k.bytes.data() + i * byte_width(type));
  return reference::form_of(type) == Form::kSigned ? Wide{x.i} : Wide{x.u};
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
      case OpKind::kAdd:
        if (at(0) + at(1) != number(result, i)) return true;
        break;
      case OpKind::kSubtract:
        if (at(0) - at(1) != number(result, i)) return true;
        break;
      case OpKind::kMultiply:
        if (at(0) * at(1) != number(result, i)) return true;
        break;
      case OpKind::kNegate:
        if (-at(0) != number(result, i)) return true;
        break;
      case OpKind::kConvert:
        if (at(0) != number(result, i)) return true;
        break;
      case OpKind::kDivide:
      case OpKind::kRemainder:
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
  if (op.kind() == OpKind::kSelect && operands[0]->shape.rank() == 0 &&
      operands[0]->overflow.empty()) {
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
  const auto shape = reference::memory_shape(type);
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
  reference::store(type,
                   reference::form_of(type) == Form::kSigned
                       ? reference::from_signed(value)
                       : reference::from_unsigned(static_cast<std::uint64_t>(value)),
                   known->bytes.data());
  return number(*known, 0) == Wide{value} ? known : nullptr;
}

KnownRef fold(const ir::Module& module, const ir::Op& op, std::span<const KnownRef> operands) {
  if (op.result_count() != 1 || std::ranges::find(operands, nullptr) != operands.end())
    return nullptr;
  const auto shape = reference::memory_shape(op.result()->type());
  if (!shape || !is_small(*shape) || !folds(op.kind(), is_whole(shape->dtype()))) return nullptr;
  const auto kernel = reference::make_kernel(module, op);
  if (!kernel || !(*kernel)->captures().empty()) return nullptr;
  auto known = std::make_shared<Known>();
  known->shape = *shape;
  known->bytes.resize(shape->size_bytes());
  std::vector<ConstArray> in;
  for (const KnownRef& operand : operands) in.push_back({operand->shape, operand->bytes.data()});
  const MutableArray out[] = {{*shape, known->bytes.data()}};
  std::vector<std::byte> scratch((*kernel)->scratch_bytes(in, out));
  if (!(*kernel)->run(in, out, scratch)) return nullptr;
  known->overflow = inherited(op, operands);
  if (known->overflow.empty() && leaves_range(op, operands, *known)) known->overflow = op.where();
  return known;
}

std::vector<std::int64_t> integers(const Known& known) {
  const DType type = known.shape.dtype();
  std::vector<std::int64_t> list;
  for (std::size_t at = 0; at < known.bytes.size(); at += byte_width(type))
    list.push_back(reference::as_index(type, reference::load(type, known.bytes.data() + at)));
  return list;
}

std::string to_string(const Known& known) {
  const DType type = known.shape.dtype();
  std::string text;
  for (std::size_t at = 0; at < known.bytes.size(); at += byte_width(type)) {
    const reference::Scalar x = reference::load(type, known.bytes.data() + at);
    if (at != 0) text += ", ";
    switch (reference::form_of(type)) {
      case Form::kBool:
        text += x.u != 0 ? "true" : "false";
        break;
      case Form::kSigned:
        text += std::to_string(x.i);
        break;
      case Form::kUnsigned:
        text += std::to_string(x.u);
        break;
      default:
        text += std::to_string(x.re);
        break;
    }
  }
  return text;
}

bool same(const KnownRef& a, const KnownRef& b) {
  return a != nullptr && b != nullptr && a->shape == b->shape && a->bytes == b->bytes;
}

}  // namespace millrace::devices::cpu::refine
