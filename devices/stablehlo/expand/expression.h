// Expression and Builder: how the expansions of chlo operations (chlo_expansion.h) make their
// functions: formulas on values, each step an operation at the end of a block.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::expand {

using Numbers = std::vector<std::int64_t>;
class Builder;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A value, or a number that takes the type of the value it meets. Value type.
class Expression {
 public:
  Expression(double number) : number_(number) {}
  Expression(Builder& builder, ir::Value* value) : builder_(&builder), value_(value) {}

  Builder& builder() const { return *builder_; }
  ir::Value* value() const { return value_; }
  ir::Type type() const { return value_->type(); }
  // This, or its number as a constant of that type.
  Expression as(Builder& builder, ir::Type type) const;
  Expression like(const Expression& other) const { return as(other.builder(), other.type()); }

 private:
  Builder* builder_ = nullptr;
  ir::Value* value_ = nullptr;
  double number_ = 0;
};
using Expressions = std::vector<Expression>;

// Thread-safety: confined.
class Builder {
 public:
  // At the end of a new block with arguments of these types.
  Builder(ir::Module& module, std::span<const ir::Type> arguments)
      : module_(module), block_(module.create_block(arguments)) {}

  ir::Module& module() const { return module_; }
  ir::Block* block() const { return block_; }
  Expressions arguments() { return all_of(block_->arguments()); }

  ir::Type like(ir::Type shape, DType dtype) const;
  ir::Attribute ints(const Numbers& values) const { return module_.integers(values); }

  ir::Op* add(ir::OpKind kind, const Expressions& operands, std::span<const ir::Type> results,
              std::span<const ir::NamedAttribute> attributes = {}, int regions = 0);
  Expression make(ir::OpKind kind, const Expressions& operands, ir::Type result,
                  std::initializer_list<ir::NamedAttribute> attributes = {});
  Expressions results_of(const ir::Op& op) { return all_of(op.results()); }

  // Arrays of the same element everywhere: its bits, or a number; complex ones of zero only.
  Expression constant(ir::Type type, std::uint64_t bits);
  Expression number(ir::Type type, double x);
  Expression iota(ir::Type type, std::int64_t dimension);
  Expression broadcast(const Expression& x, const Numbers& dims, ir::Type type);
  Expression reduce(ir::OpKind kind, const Expression& x, const Numbers& dims, ir::Type type);
  // The elements of the table at these indices, which are whole numbers in f64; an index outside of
  // it gives the nearest end.
  Expression look_up(std::span<const double> table, const Expression& index);

  // Gives the region one block with arguments of these types, which returns what make(arguments)
  // gives.
  template <class Make>
  void fill(ir::Region& region, std::span<const ir::Type> arguments, Make make) {
    ir::Block* const inner = module_.create_block(arguments);
    module_.set_blocks(region, {&inner, 1});
    ir::Block* const outer = std::exchange(block_, inner);
    add(ir::OpKind::kReturn, make(this->arguments()), {});
    block_ = outer;
  }
  // What make(values) gives of the initial values, of that again, and so on while going(values), of
  // tensor<i1>, is true.
  template <class Going, class Make>
  Expressions loop(const Expressions& initial, Going going, Make make) {
    std::vector<ir::Type> types;
    for (const Expression& x : initial) types.push_back(x.type());
    ir::Op* const op = add(ir::OpKind::kWhile, initial, types, {}, 2);
    fill(op->region(0), types, [&](const Expressions& x) { return Expressions{going(x)}; });
    fill(op->region(1), types, make);
    return results_of(*op);
  }

  // Copies the operations of a block but the last, whose operands it gives. values: what stands for
  // the values of the original.
  using Copies = std::unordered_map<const ir::Value*, ir::Value*>;
  Expressions copy(const ir::Block& from, Copies& values);

 private:
  Expressions all_of(std::span<ir::Value> values);
  void copy_op(const ir::Op& op, Copies& values);

  ir::Module& module_;
  ir::Block* block_;
};

Expression unary(ir::OpKind kind, const Expression& x);
Expression binary(ir::OpKind kind, const Expression& a, const Expression& b);
Expression compare(ir::ComparisonDirection direction, const Expression& a, const Expression& b,
                   ir::ComparisonType type = ir::ComparisonType::kNoType);
// Two numbers are of f64.
Expression select(const Expression& p, const Expression& a, const Expression& b);
Expression convert(const Expression& x, DType to);  // x itself if it has this element type
Expression bitcast(const Expression& x, DType to);
// The highest power first.
Expression polynomial(std::span<const double> coefficients, const Expression& x);

#define MILLRACE_UNARY(name, kind) \
  inline Expression name(const Expression& x) { return unary(ir::OpKind::kind, x); }
MILLRACE_UNARY(abs, kAbs)
MILLRACE_UNARY(cos, kCosine)
MILLRACE_UNARY(exp, kExponential)
MILLRACE_UNARY(expm1, kExponentialMinusOne)
MILLRACE_UNARY(floor, kFloor)
MILLRACE_UNARY(log, kLog)
MILLRACE_UNARY(log1p, kLogPlusOne)
MILLRACE_UNARY(sign, kSign)
MILLRACE_UNARY(sin, kSine)
MILLRACE_UNARY(sqrt, kSqrt)
MILLRACE_UNARY(operator-, kNegate)
#undef MILLRACE_UNARY
#define MILLRACE_BINARY(name, kind)                                  \
  inline Expression name(const Expression& a, const Expression& b) { \
    return binary(ir::OpKind::kind, a, b);                           \
  }
MILLRACE_BINARY(operator+, kAdd)
MILLRACE_BINARY(operator-, kSubtract)
MILLRACE_BINARY(operator*, kMultiply)
MILLRACE_BINARY(operator/, kDivide)
MILLRACE_BINARY(operator&, kAnd)
MILLRACE_BINARY(operator|, kOr)
MILLRACE_BINARY(atan2, kAtan2)
MILLRACE_BINARY(max, kMaximum)
MILLRACE_BINARY(min, kMinimum)
#undef MILLRACE_BINARY
#define MILLRACE_COMPARE(name, direction)                            \
  inline Expression name(const Expression& a, const Expression& b) { \
    return compare(ir::ComparisonDirection::direction, a, b);        \
  }
MILLRACE_COMPARE(equals, kEq)
MILLRACE_COMPARE(differs, kNe)
MILLRACE_COMPARE(operator<, kLt)
MILLRACE_COMPARE(operator<=, kLe)
MILLRACE_COMPARE(operator>, kGt)
MILLRACE_COMPARE(operator>=, kGe)
#undef MILLRACE_COMPARE
inline Expression is_whole(const Expression& x) { return equals(x, floor(x)); }

}  // namespace millrace::devices::stablehlo::expand
