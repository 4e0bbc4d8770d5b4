// Maker: makes the operations that stand in the place of another one, at the end of a block.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::spread {

// Thread-safety: confined.
class Maker {
 public:
  // What is made has the location of `like`.
  Maker(ir::Module& into, ir::Block& to, const ir::Op& like) : into_(into), to_(to), like_(like) {}

  ir::Module& module() const { return into_; }
  ir::Block& block() const { return to_; }
  const ir::Op& like() const { return like_; }

  ir::Op* op(ir::OpKind kind, std::span<ir::Value* const> operands, std::span<const ir::Type> types,
             std::span<const ir::NamedAttribute> attributes = {}, int regions = 0);
  ir::Value* value(ir::OpKind kind, std::initializer_list<ir::Value*> operands, ir::Type type,
                   std::initializer_list<ir::NamedAttribute> attributes = {});

  // Static dimensions. From start up to limit along one dimension.
  ir::Value* slice(ir::Value* v, std::int64_t dimension, std::int64_t start, std::int64_t limit);
  ir::Value* slice(ir::Value* v, std::span<const std::int64_t> starts,
                   std::span<const std::int64_t> limits);
  ir::Value* concatenate(std::span<ir::Value* const> values, std::int64_t dimension);
  // The array with elements of another type.
  ir::Value* convert(ir::Value* v, ir::Type element);
  // All elements are 0; a token is one that is made here.
  ir::Value* zeros(ir::Type type);
  ir::Value* number(DType type, std::int64_t value);  // a scalar
  // The same number in each element of a plain type.
  ir::Value* splat(ir::Type type, std::int64_t value);
  ir::Value* reshape(ir::Value* v, std::span<const std::int64_t> dims);
  // dimensions: of the result, one for each of v.
  ir::Value* broadcast(ir::Value* v, std::span<const std::int64_t> dims,
                       std::span<const std::int64_t> dimensions);
  ir::Value* both(ir::Value* a, ir::Value* b) { return value(ir::OpKind::kAnd, {a, b}, a->type()); }
  ir::Value* either(ir::Value* a, ir::Value* b) {
    return value(ir::OpKind::kOr, {a, b}, a->type());
  }
  ir::Value* inverse(ir::Value* a) { return value(ir::OpKind::kNot, {a}, a->type()); }
  ir::Value* compare(ir::ComparisonDirection direction, ir::Value* a, ir::Value* b);
  // predicate ? a : b, of values of any one type; tokens are joined.
  ir::Value* choose(ir::Value* predicate, ir::Value* a, ir::Value* b);

  // A return at the end of the block.
  void finish(ir::Block& block, std::span<ir::Value* const> values);

 private:
  ir::Type with_dims(ir::Type type, std::span<const std::int64_t> dims) const {
    return into_.types().tensor(dims, type.element());
  }

  ir::Module& into_;
  ir::Block& to_;
  const ir::Op& like_;
};

}  // namespace millrace::devices::stablehlo::spread
