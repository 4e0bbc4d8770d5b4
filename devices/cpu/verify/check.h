// Check: one operation under examination, with the questions that most rules ask. Every question
// that is answered with "no" records the error and returns false; rules return at once then. Read
// next: rules.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::verify {

using Dims = std::vector<std::int64_t>;
// Products and sums of 64-bit numbers that a program's text gives never overflow in this.
__extension__ using Wide = __int128;

// Sets of element types, to be combined with |.
enum ElementClass : unsigned {
  kBool = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloat = 8,
  kComplex = 16,
  kInteger = kSigned | kUnsigned,
  kNumber = kInteger | kFloat | kComplex,
  kAny = kBool | kNumber,
};
unsigned element_class(DType type);
// What a type's elements are computed as: those that quantised ones express, else themselves.
DType expressed_dtype(ir::Type type);
// And as what they lie in memory.
DType storage_dtype(ir::Type type);
// What is wrong with a type itself; "" if nothing is.
std::string type_fault(ir::Type type);

// Thread-safety: confined.
class Check {
 public:
  Check(const ir::Module& module, const ir::Op& op, std::vector<Dims>* inferred = nullptr)
      : module(module), op(op), inferred_(inferred) {}

  const ir::Module& module;
  const ir::Op& op;

  // Records "line:column: op: message" and returns false.
  bool fail(const std::string& message);
  // The same for what another op (a terminator) does wrong.
  bool fail_at(const ir::Op& where, const std::string& message);
  const std::optional<Error>& error() const { return error_; }

  bool operands(int count);
  bool at_least_operands(int count);
  bool results(int count);
  bool regions(int count);  // each with exactly one block

  ir::Type operand(int i) const { return op.operand(i)->type(); }
  ir::Type result(int i = 0) const { return op.result(i)->type(); }

  // The integers of an attribute: present (or `otherwise` instead) and as many as said.
  bool ints(std::string_view name, std::size_t count, Dims* out,
            std::optional<std::int64_t> otherwise = {});
  bool required_ints(std::string_view name, Dims* out);
  // Pairs (low, high) of padding, flat; zeros if absent.
  bool padding(std::size_t rank, Dims* out);
  // The attribute, where it is a dense array, has elements of i64.
  bool table_of_i64(std::string_view name);
  // That each is in 0..rank-1 and none comes twice. what names the list in the message.
  bool axes(std::span<const std::int64_t> list, int rank, std::string_view what);
  bool integer(std::string_view name, std::int64_t low, std::int64_t high, std::int64_t* out);

  // Quantised elements are in the class kFloat, for they stand for the floats that they express.
  bool element_in(ir::Type type, unsigned classes, std::string_view what);
  bool not_quantised(ir::Type type, std::string_view what);
  bool same_element(ir::Type found, ir::Type expected, std::string_view what);
  // The dimension along which operand 0 has scales, if the result has some per dimension, too: the
  // caller knows where it goes. Else -1.
  int moved_axis() const;
  // That the result has the elements of operand 0, with the scales of moved_axis() along dimension
  // `axis` (-1: it is none of the result's). Of a dimension of one element that is broadcast, each
  // gets its scale.
  bool moved_element(int axis);
  // The same scale for all of operand i, or none: what is moved along an axis of scales would get
  // another one's.
  bool per_tensor(int i);
  // Dimension by dimension, a dynamic one fitting everything.
  bool same_dims(std::span<const std::int64_t> found, std::span<const std::int64_t> expected,
                 std::string_view what);
  bool same_shape_and_element(ir::Type found, ir::Type expected, std::string_view what);
  bool scalar(ir::Type type, std::string_view what);
  // What rules say of results; infer (verify.h) learns from these two.
  bool result_dims(int i, std::span<const std::int64_t> expected, std::string_view what = {});
  bool result_like(int i, ir::Type expected, std::string_view what);  // element and dims

  // That region i has arguments of these types and returns values of these. Null types are not
  // compared.
  bool region_types(int i, std::span<const ir::Type> arguments, std::span<const ir::Type> returned);
  // A reducer: 2n scalars in, n scalars out, of the given elements. What it is to combine, arrays
  // by turns of each element, may have narrower ones (is_promotable of the specification).
  bool reducer(int region, std::span<const ir::Type> elements, std::span<const ir::Type> arrays);

 private:
  std::vector<Dims>* const inferred_;  // per result, what result_dims was given
  std::optional<Error> error_;
};

// "2x?x3" or "scalar", for messages.
std::string to_string(std::span<const std::int64_t> dims);
// Whether two extents agree; a dynamic one agrees with everything.
inline bool agree(std::int64_t a, std::int64_t b) {
  return a == b || a == ir::kDynamic || b == ir::kDynamic;
}
// Whether a body on `to` may combine elements of `from`: of the same class, and no wider. Both are
// element types.
bool is_promotable(ir::Type from, ir::Type to);
// Types that are equal but for dynamic dimensions and bounds.
bool compatible(ir::Type a, ir::Type b);

}  // namespace millrace::devices::cpu::verify
