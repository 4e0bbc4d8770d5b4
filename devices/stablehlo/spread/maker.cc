#include "millrace/devices/stablehlo/spread/maker.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;
using Dims = std::vector<std::int64_t>;

Dims dims_of(ir::Type type) { return {type.dims().begin(), type.dims().end()}; }

}  // namespace

ir::Op* Maker::op(K kind, std::span<ir::Value* const> operands, std::span<const ir::Type> types,
                  std::span<const ir::NamedAttribute> attributes, int regions) {
  ir::Op* made = into_.create_op({.kind = kind,
                                  .location = like_.location(),
                                  .operands = operands,
                                  .result_types = types,
                                  .attributes = attributes,
                                  .regions = regions});
  to_.append(made);
  return made;
}

ir::Value* Maker::value(K kind, std::initializer_list<ir::Value*> operands, ir::Type type,
                        std::initializer_list<ir::NamedAttribute> attributes) {
  const ir::Type types[] = {type};
  return op(kind, std::span(operands.begin(), operands.size()), types,
            std::span(attributes.begin(), attributes.size()))
      ->result();
}

ir::Value* Maker::slice(ir::Value* v, std::int64_t dimension, std::int64_t start,
                        std::int64_t limit) {
  Dims starts(v->type().dims().size(), 0), limits = dims_of(v->type());
  starts[static_cast<std::size_t>(dimension)] = start;
  limits[static_cast<std::size_t>(dimension)] = limit;
  return slice(v, starts, limits);
}

ir::Value* Maker::slice(ir::Value* v, std::span<const std::int64_t> starts,
                        std::span<const std::int64_t> limits) {
  const Dims ones(starts.size(), 1);
  Dims sizes(starts.size());
  std::ranges::transform(limits, starts, sizes.begin(), std::minus<>());
  if (std::ranges::equal(sizes, v->type().dims())) return v;
  return value(K::kSlice, {v}, with_dims(v->type(), sizes),
               {{"start_indices", into_.integers(starts)},
                {"limit_indices", into_.integers(limits)},
                {"strides", into_.integers(ones)}});
}

ir::Value* Maker::concatenate(std::span<ir::Value* const> values, std::int64_t dimension) {
  if (values.size() == 1) return values.front();
  Dims dims = dims_of(values.front()->type());
  std::int64_t& extent = dims[static_cast<std::size_t>(dimension)];
  extent = 0;
  for (const ir::Value* v : values) extent += v->type().dim(dimension);
  const ir::Type types[] = {with_dims(values.front()->type(), dims)};
  const ir::NamedAttribute attributes[] = {{"dimension", into_.integer(dimension)}};
  return op(K::kConcatenate, values, types, attributes)->result();
}

ir::Value* Maker::convert(ir::Value* v, ir::Type element) {
  if (v->type().element() == element) return v;
  return value(K::kConvert, {v}, into_.types().tensor(v->type().dims(), element));
}

ir::Value* Maker::number(DType type, std::int64_t value) {
  return splat(into_.types().tensor({}, type), value);
}

ir::Value* Maker::splat(ir::Type type, std::int64_t number) {
  std::byte bytes[16] = {};
  std::memcpy(bytes, &number, sizeof number);
  const auto size = byte_width(type.dtype());
  return value(K::kConstant, {}, type, {{"value", into_.dense(type, true, {bytes, size})}});
}

ir::Value* Maker::zeros(ir::Type type) {
  if (type.kind() == ir::TypeKind::kToken) return value(K::kCreateToken, {}, type);
  if (type.kind() == ir::TypeKind::kTuple) {
    std::vector<ir::Value*> members;
    for (const ir::Type member : type.members()) members.push_back(zeros(member));
    const ir::Type types[] = {type};
    return op(K::kTuple, members, types)->result();
  }
  if (const ir::QuantParameters* quant = type.element().quant()) {
    const ir::Type expressed = into_.types().scalar(quant->expressed);
    ir::Value* plain = splat(into_.types().tensor(type.dims(), expressed), 0);
    return value(K::kUniformQuantize, {plain}, type);
  }
  return splat(type, 0);
}

ir::Value* Maker::reshape(ir::Value* v, std::span<const std::int64_t> dims) {
  if (std::ranges::equal(dims, v->type().dims())) return v;
  return value(K::kReshape, {v}, with_dims(v->type(), dims));
}

ir::Value* Maker::broadcast(ir::Value* v, std::span<const std::int64_t> dims,
                            std::span<const std::int64_t> dimensions) {
  return value(K::kBroadcastInDim, {v}, with_dims(v->type(), dims),
               {{"broadcast_dimensions", into_.integers(dimensions)}});
}

ir::Value* Maker::compare(ir::ComparisonDirection direction, ir::Value* a, ir::Value* b) {
  const ir::Attribute how = into_.attribute(
      ir::EnumAttr{{}, ir::class_of(direction), static_cast<std::uint8_t>(direction)});
  const ir::Type type = into_.types().tensor(a->type().dims(), into_.types().scalar(DType::kI1));
  return value(K::kCompare, {a, b}, type, {{"comparison_direction", how}});
}

ir::Value* Maker::choose(ir::Value* predicate, ir::Value* a, ir::Value* b) {
  const ir::Type type = a->type();
  if (a == b) return a;
  if (type.kind() == ir::TypeKind::kToken) return value(K::kAfterAll, {a, b}, type);
  if (type.is_tensor()) return value(K::kSelect, {predicate, a, b}, type);
  const ir::Type types[] = {type};
  ir::Value* const operands[] = {predicate};
  ir::Op* chosen = op(K::kIf, operands, types, {}, 2);
  for (int r = 0; r < 2; ++r) {
    ir::Block* block = into_.create_block({});
    ir::Value* const values[] = {r == 0 ? a : b};
    finish(*block, values);
    ir::Block* const blocks[] = {block};
    into_.set_blocks(chosen->region(r), blocks);
  }
  return chosen->result();
}

void Maker::finish(ir::Block& block, std::span<ir::Value* const> values) {
  block.append(
      into_.create_op({.kind = K::kReturn, .location = like_.location(), .operands = values}));
}

}  // namespace millrace::devices::stablehlo::spread
