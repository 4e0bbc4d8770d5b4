// Check: one operation under examination, with the questions that most rules ask. Every question
// that is answered with "no" records the error and returns false; rules return at once then. Read
// next: rules.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::verify {

using ir::Ints;
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

inline std::string operand_name(int i) { return "operand " + std::to_string(i); }
inline std::string result_name(int i) { return "result " + std::to_string(i); }

// Whether 0 to n - 1 all hold, up to the first that does not.
bool all(int n, auto holds) {
  for (int i = 0; i < n; ++i) {
    if (!holds(i)) return false;
  }
  return true;
}

// Thread-safety: confined.
class Check {
 public:
  Check(const ir::Module& module, const ir::Op& op, std::vector<Dims>* inferred = nullptr)
      : module(module), op(op), inferred_(inferred) {}

  const ir::Module& module;
  const ir::Op& op;

  // Records "line:column: op: " and the parts (ir/message.h), and returns false.
  template <class... Parts>
  bool fail(const Parts&... parts) {
    return fail_at(op, parts...);
  }
  // The same for what another op (a terminator) does wrong.
  template <class... Parts>
  bool fail_at(const ir::Op& where, const Parts&... parts) {
    if (!error_) error_ = ir::invalid(where, parts...).error();
    return false;
  }
  // An error of another, which has the place.
  bool passes_on(const Error& error) {
    if (!error_) error_ = error;
    return false;
  }
  const std::optional<Error>& error() const { return error_; }

  // So many operands and results.
  bool counts(int operands, int results);
  bool at_least_operands(int count);
  bool results(int count);
  bool regions(int count);  // each with exactly one block

  ir::Type operand(int i) const { return op.operand(i)->type(); }
  ir::Type result(int i = 0) const { return op.result(i)->type(); }
  std::vector<ir::Type> operand_types() const { return ir::types_of(op.operands()); }
  std::vector<ir::Type> result_types() const { return ir::types_of(op.results()); }

  // The integers of an attribute: present (or `otherwise` instead) and as many as said.
  bool ints(std::string_view name, std::size_t count, Dims* out,
            std::optional<std::int64_t> otherwise = {});
  bool required_ints(std::string_view name, Dims* out);
  // Pairs (low, high) of padding, flat; zeros if absent.
  bool padding(std::size_t rank, Dims* out);
  // The attribute, where it is a dense array, has elements of i64.
  bool table_of_i64(std::string_view name);
  // That each number of both lists is in 0..rank-1 and none comes twice. what names them in the
  // message.
  bool axes(Ints list, Ints more, int rank, std::string_view what);
  bool axes(Ints list, int rank, std::string_view what) { return axes(list, {}, rank, what); }
  bool integer(std::string_view name, std::int64_t low, std::int64_t high, std::int64_t* out);
  // That the attribute is an enum of this class.
  bool enumerated(std::string_view name, ir::EnumClass enum_class, std::string_view noun);

  // Quantised elements are in the class kFloat, for they stand for the floats that they express.
  bool element_in(ir::Type type, unsigned classes, std::string_view what);
  bool element_in(int i, unsigned classes) {
    return element_in(operand(i), classes, operand_name(i));
  }
  // A type that is no tensor; `noun` names the kind: "a tuple".
  bool is_kind(ir::Type type, ir::TypeKind kind, std::string_view what, std::string_view noun) {
    return type.kind() == kind || fail(what, " is ", type, ", expected ", noun);
  }
  bool not_quantised(ir::Type type, std::string_view what);
  bool not_quantised(int i) { return not_quantised(operand(i), operand_name(i)); }
  bool same_element(ir::Type found, ir::Type expected, std::string_view what);
  bool same_element(int i, ir::Type expected) {
    return same_element(operand(i), expected, operand_name(i));
  }
  // The result has the elements of operand 0.
  bool keeps_element() { return same_element(result(), operand(0), "the result"); }
  // The dimension along which operand 0 has scales, if the result has some per dimension, too: the
  // caller knows where it goes. Else -1.
  int moved_axis() const;
  // That the result has the elements of operand 0, with the scales of moved_axis() along dimension
  // `axis` (-1: it is none of the result's). If operand 0 has one element there, which is
  // broadcast, all have its scale.
  bool moved_element(int axis);
  // The same scale for all of operand i, or none: what is moved along an axis of scales would get
  // another one's.
  bool per_tensor(int i);
  // Dimension by dimension, a dynamic one fitting everything.
  bool same_dims(Ints found, Ints expected, std::string_view what);
  bool same_dims(int i, Ints expected) {
    return same_dims(operand(i).dims(), expected, operand_name(i));
  }
  bool same_shape_and_element(ir::Type found, ir::Type expected, std::string_view what);
  // Extents at these axes of operand 0 (left) and another (right) agree, pairwise.
  bool agree_at(Ints left, Ints right, std::string_view what, int other = 1);
  bool scalar(ir::Type type, std::string_view what);
  bool scalar(int i) { return scalar(operand(i), operand_name(i)); }
  // A scalar of the elements that `like` has.
  bool scalar_of(ir::Type type, ir::Type like, std::string_view what) {
    return scalar(type, what) && same_element(type, like, what);
  }
  bool predicate(ir::Type type, std::string_view what) {
    return scalar(type, what) && element_in(type, kBool, what);
  }
  // What rules say of results; infer (verify.h) learns from these two.
  bool result_dims(int i, Ints expected);
  bool result_like(int i, ir::Type expected);  // element and dims

  // That region i has arguments of these types and returns values of these. Null types are not
  // compared.
  bool region_types(int i, std::span<const ir::Type> arguments, std::span<const ir::Type> returned);
  // That region i has as many arguments, scalars of the elements of these types, and returns so
  // many values. what names the region in messages.
  bool takes_scalars(int i, std::span<const ir::Type> elements, std::size_t values,
                     std::string_view what);
  // A reducer: 2n scalars in, n scalars out, of the given elements. What it is to combine, arrays
  // by turns of each element, may have narrower ones (is_promotable of the specification).
  bool reducer(int region, std::span<const ir::Type> elements, std::span<const ir::Type> arrays);
  // The type of the only value that region i returns.
  ir::Type returned(int region) const {
    return op.region(region).block().terminator()->operand(0)->type();
  }

 private:
  std::vector<Dims>* const inferred_;  // per result, what result_dims was given
  std::optional<Error> error_;
};

inline bool contains(Ints list, std::int64_t value) {
  return std::ranges::find(list, value) != list.end();
}
inline Dims dims_of(ir::Type type) { return {type.dims().begin(), type.dims().end()}; }
// Appends the extents of the dimensions that are in neither list.
inline void append_others(Dims& out, ir::Type type, Ints list, Ints more = {}) {
  for (int i = 0; i < type.rank(); ++i) {
    if (!contains(list, i) && !contains(more, i)) out.push_back(type.dim(i));
  }
}
// Whether two extents agree; a dynamic one agrees with everything.
inline bool agree(std::int64_t a, std::int64_t b) {
  return a == b || a == ir::kDynamic || b == ir::kDynamic;
}
// Types that are equal but for dynamic dimensions and bounds.
bool compatible(ir::Type a, ir::Type b);

}  // namespace millrace::devices::stablehlo::verify
