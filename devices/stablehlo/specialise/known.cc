#include "millrace/devices/stablehlo/specialise/known.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "millrace/devices/stablehlo/ir/float_format.h"
#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::specialise {
namespace {

using K = ir::OpKind;
using verify::Wide;

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
  const bool elementwise =
      verify::elements_of(kind).operands != 0 && ir::to_string(kind).starts_with("stablehlo.");
  return elementwise || kind == kBitcastConvert || kind == kReduce || kind == kSort;
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
    const Wide found = number(result, i);
    const bool exact = op.kind() == K::kAdd        ? at(0) + at(1) == found
                       : op.kind() == K::kSubtract ? at(0) - at(1) == found
                       : op.kind() == K::kMultiply ? at(0) * at(1) == found
                       : op.kind() == K::kNegate   ? -at(0) == found
                       : op.kind() == K::kConvert  ? at(0) == found
                       : op.kind() == K::kDivide || op.kind() == K::kRemainder ? at(1) != 0
                                                                               : true;
    if (!exact) return true;
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

constexpr int kMaxSteps = 256;  // of looking through operations

class Difference {
 public:
  explicit Difference(const KnownValues& known) : known_(known) {}

  // The differences of all elements in a row; all unknown if nothing is found.
  Dims of(const ir::Value* start, const ir::Value* limit) {
    const auto n = static_cast<std::size_t>(limit->type().elements().value_or(0));
    Dims unknown(n, ir::kDynamic);
    if (start->type() != limit->type() || ++steps_ > kMaxSteps) return unknown;
    if (start == limit) return Dims(n, 0);
    if (const KnownRef a = known_(start), b = known_(limit); a != nullptr && b != nullptr)
      return subtracted(*a, *b);
    const ir::Op* by = limit->def();
    if (by != nullptr && by->kind() == K::kAdd) {
      for (const int side : {0, 1}) {
        const KnownRef size = known_(by->operand(1 - side));
        if (size != nullptr && by->operand(side) == start)
          return size->overflow.empty() ? integers(*size) : unknown;
      }
    }
    return alike(start->def(), by, unknown);
  }

 private:
  static Dims subtracted(const Known& start, const Known& limit) {
    Dims a = integers(start), b = integers(limit);
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (!start.overflow.empty() || !limit.overflow.empty() ||
          __builtin_sub_overflow(b[i], a[i], &b[i])) {
        b[i] = ir::kDynamic;
      }
    }
    return b;
  }
  // Both are put together in the same way.
  Dims alike(const ir::Op* start, const ir::Op* limit, const Dims& unknown) {
    if (start == nullptr || limit == nullptr || start->kind() != limit->kind() ||
        start->operand_count() != limit->operand_count()) {
      return unknown;
    }
    if (start->kind() == K::kReshape ||
        (start->kind() == K::kBroadcastInDim &&
         start->operand(0)->type().elements() == start->result()->type().elements())) {
      return of(start->operand(0), limit->operand(0));
    }
    if (start->kind() != K::kConcatenate || start->result()->type().rank() != 1) return unknown;
    Dims all;
    for (int i = 0; i < start->operand_count(); ++i) {
      if (start->operand(i)->type() != limit->operand(i)->type()) return unknown;
      const Dims part = of(start->operand(i), limit->operand(i));
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  const KnownValues& known_;
  int steps_ = 0;
};

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
  const DType part = part_of(type);  // of a complex number, the real one is written
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

Dims slice_sizes(const ir::Value* start, const ir::Value* limit, const KnownValues& known) {
  const auto n = limit->type().elements();
  if (!n || *n > kMaxKnownElements || start->type() != limit->type()) return {};
  return Difference(known).of(start, limit);
}

}  // namespace millrace::devices::stablehlo::specialise
