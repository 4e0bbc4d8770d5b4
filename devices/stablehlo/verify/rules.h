// Rules: for each operation, what its operands, attributes, regions and results must be. A rule
// runs after the generic checks of verify.cc: every region of StableHLO's and CHLO's ops has one
// block with a terminator, and where the rule says `tensors` all operands and results are ranked.
#pragma once

#include "millrace/devices/stablehlo/ir/op_kind.h"
#include "millrace/devices/stablehlo/verify/check.h"

namespace millrace::devices::stablehlo::verify {

using RuleFunction = bool (*)(Check&);

struct Rule {
  RuleFunction check;
  bool tensors;  // operands and results are ranked tensors
};

// By the kind; by the name for the ops of other dialects that are passed through.
const Rule& rule_of(const ir::Op& op);

// The rules of ops.inc, one family to a file: elementwise.cc, movement.cc, linear.cc, window.cc,
// indexing.cc, chlo.cc, algebra.cc, control.cc, and collective.cc (among processes, and on tokens).
#define MILLRACE_OP_CHECK(kind, check, types) bool check(Check& c);
#include "millrace/devices/stablehlo/ir/ops.inc"
bool check_manual_computation(Check& c);  // sdy's

// What the result of an elementwise op is, given that all operands have one type T.
enum class Outcome {
  kSame,       // T
  kPredicate,  // i1 of T's shape
  kPart,       // complex: its part; others: T
  kShape,      // T's shape, any elements
  kComplex,    // complex of T
};
struct Elements {
  int operands = 0;
  unsigned classes = 0;  // of the operands' elements
  Outcome outcome = Outcome::kSame;
};
// The row of an op that works element by element, also if it broadcasts its operands first.
const Elements& elements_of(ir::OpKind kind);

// What rules of several families share.
// The types of `found`, each compatible with that of `expected` at its place.
bool same_list(Check& c, std::span<const ir::Type> found, std::span<const ir::Type> expected,
               std::string_view what);

// The extent of a dimension after dilation, padding and a window with a stride, as convolution and
// reduce_window have it (StableHLO, "convolution"); kDynamic if the extent is. False (with an
// error) if a number is out of range.
struct Window {
  std::int64_t size = 1, stride = 1, base_dilation = 1, window_dilation = 1, low = 0, high = 0;
};
bool windowed_extent(Check& c, std::int64_t extent, const Window& window, std::int64_t* out);

}  // namespace millrace::devices::stablehlo::verify
