// Known: a small array whose elements are known before the program runs: a constant, the size of a
// dimension, or what follows from such. Read next: specialise.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::specialise {

// Shapes and what they are computed from are short; larger arrays are the program's data.
inline constexpr std::int64_t kMaxKnownElements = 1024;

// Thread-safety: immutable.
struct Known {
  Shape shape;
  std::vector<std::byte> bytes;  // as in memory
  // Where arithmetic on the way here left the range of its type, or divided by zero: "3:5:
  // stablehlo.multiply". Integers wrap, which is no error in a program, but it is in a shape.
  std::string overflow;
};
using KnownRef = std::shared_ptr<const Known>;
using Dims = std::vector<std::int64_t>;

// What is known of the values of the refined module. Thread-safety: confined.
class KnownValues {
 public:
  KnownRef operator()(const ir::Value* v) const {  // nullptr: nothing
    const auto found = known_.find(v);
    return found == known_.end() ? nullptr : found->second;
  }
  std::vector<KnownRef> operator()(std::span<ir::Value* const> values) const;
  void set(const ir::Value* v, const KnownRef& known) {
    if (known != nullptr) known_[v] = known;
  }

 private:
  std::unordered_map<const ir::Value*, KnownRef> known_;
};

// Runs op, whose types are static, on these operands and writes the bytes of result, which has its
// shape; false for what it cannot run. By the device for which a program is specialised.
using Evaluate = bool (*)(const ir::Module& module, const ir::Op& op,
                          std::span<const KnownRef> operands, Known& result);

// The value of a constant; nullptr for one that is too large or of no plain elements.
KnownRef known_constant(const ir::Op& constant);
// A scalar; nullptr if the value is none of the type.
KnownRef known_scalar(DType type, std::int64_t value);
// What op gives for these operands, by its definition; op has static types. nullptr for what is not
// known then: an operand is nullptr, a random number, a large result, floats that are not exact.
KnownRef fold(const ir::Module& module, const ir::Op& op, std::span<const KnownRef> operands,
              Evaluate evaluate);

// The elements of integers and i1; unsigned ones beyond 2^63 - 1 saturate.
Dims integers(const Known& known);
// The elements of any type as a message writes them: "3", "1, 2".
std::string to_string(const Known& known);
bool same(const KnownRef& a, const KnownRef& b);  // both known, and equal

// How long a slice is whose place depends on data: limit - start, two vectors of indices that are
// computed from each other, element by element; ir::kDynamic where it is not known. Empty if they
// are none of the same length. Both are values of a refined module.
Dims slice_sizes(const ir::Value* start, const ir::Value* limit, const KnownValues& known);

}  // namespace millrace::devices::stablehlo::specialise
