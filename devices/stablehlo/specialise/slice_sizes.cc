#include "millrace/devices/stablehlo/specialise/slice_sizes.h"

#include <algorithm>

namespace millrace::devices::stablehlo::specialise {
namespace {

using K = ir::OpKind;

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

Dims slice_sizes(const ir::Value* start, const ir::Value* limit, const KnownValues& known) {
  const auto n = limit->type().elements();
  if (!n || *n > kMaxKnownElements || start->type() != limit->type()) return {};
  return Difference(known).of(start, limit);
}

}  // namespace millrace::devices::stablehlo::specialise
