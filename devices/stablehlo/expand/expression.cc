#include "millrace/devices/stablehlo/expand/expression.h"

#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::stablehlo::expand {

using K = ir::OpKind;

Expression Expression::as(Builder& builder, ir::Type type) const {
  return value_ != nullptr ? *this : builder.number(type, number_);
}

Expressions Builder::all_of(std::span<ir::Value> values) {
  Expressions all;
  for (ir::Value& v : values) all.emplace_back(*this, &v);
  return all;
}

ir::Type Builder::like(ir::Type shape, DType dtype) const {
  return module_.types().tensor(shape.dims(), module_.types().scalar(dtype));
}

ir::Op* Builder::add(K kind, const Expressions& operands, std::span<const ir::Type> results,
                     std::span<const ir::NamedAttribute> attributes, int regions) {
  std::vector<ir::Value*> values;
  for (const Expression& x : operands) values.push_back(x.value());
  ir::Op* op = module_.create_op({.kind = kind,
                                  .operands = values,
                                  .result_types = results,
                                  .attributes = attributes,
                                  .regions = regions});
  block_->append(op);
  return op;
}

Expression Builder::make(K kind, const Expressions& operands, ir::Type result,
                         std::initializer_list<ir::NamedAttribute> attributes) {
  return {*this,
          add(kind, operands, {&result, 1}, {attributes.begin(), attributes.size()})->result()};
}

Expression Builder::constant(ir::Type type, std::uint64_t bits) {
  const std::uint64_t both[] = {bits, 0};
  const auto bytes = std::as_bytes(std::span(both)).first(byte_width(type.dtype()));
  return make(K::kConstant, {}, type,
              {{"value", module_.dense(type, type.elements() != 1, bytes)}});
}

Expression Builder::number(ir::Type type, double x) {
  if (is_floating(type.dtype())) return constant(type, ir::encode_float(type.dtype(), x));
  return constant(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(x)));
}

Expression Builder::iota(ir::Type type, std::int64_t dimension) {
  return make(K::kIota, {}, type, {{"iota_dimension", module_.integer(dimension)}});
}

Expression Builder::broadcast(const Expression& x, const Numbers& dims, ir::Type type) {
  return make(K::kBroadcastInDim, {x}, type, {{"broadcast_dimensions", ints(dims)}});
}

Expression Builder::reduce(K kind, const Expression& x, const Numbers& dims, ir::Type type) {
  const ir::Type scalar = module_.types().tensor({}, x.type().element());
  const ir::NamedAttribute dimensions[] = {{"dimensions", ints(dims)}};
  ir::Op* op = add(K::kReduce, {x, number(scalar, 0)}, {&type, 1}, dimensions, 1);
  const ir::Type both[] = {scalar, scalar};
  fill(op->region(), both,
       [&](const Expressions& v) { return Expressions{binary(kind, v[0], v[1])}; });
  return {*this, op->result()};
}

Expression Builder::look_up(std::span<const double> table, const Expression& index) {
  const ir::Type type =
      module_.types().tensor({static_cast<std::int64_t>(table.size())}, DType::kF64);
  const Expression values =
      make(K::kConstant, {}, type, {{"value", module_.dense(type, false, std::as_bytes(table))}});
  const Expression at =
      convert(min(max(index, 0), static_cast<double>(table.size() - 1)), DType::kI64);
  ir::GatherDimsAttr dims;
  dims.collapsed_slice_dims = dims.start_index_map = ints({0}).as<ir::IntArrayAttr>()->values;
  dims.index_vector_dim = index.type().rank();
  return make(K::kGather, {values, at}, index.type(),
              {{"dimension_numbers", module_.attribute(dims)}, {"slice_sizes", ints({1})}});
}

Expressions Builder::copy(const ir::Block& from, Copies& values) {
  for (const ir::Op& op : from) {
    if (&op != from.terminator()) copy_op(op, values);
  }
  Expressions given;
  for (ir::Value* v : from.terminator()->operands()) given.emplace_back(*this, values.at(v));
  return given;
}

void Builder::copy_op(const ir::Op& op, Copies& values) {
  std::vector<ir::Value*> operands;
  for (const ir::Value* v : op.operands()) operands.push_back(values.at(v));
  const std::vector<ir::Type> types = ir::types_of(op.results());
  ir::Op* const made = module_.create_op({.kind = op.kind(),
                                          .name = op.name(),
                                          .location = op.location(),
                                          .operands = operands,
                                          .result_types = types,
                                          .attributes = op.attributes(),
                                          .regions = static_cast<int>(op.regions().size())});
  block_->append(made);
  for (int i = 0; i < op.result_count(); ++i) values[op.result(i)] = made->result(i);
  ir::Block* const outer = block_;
  for (std::size_t r = 0; r < op.regions().size(); ++r) {
    std::vector<ir::Block*> blocks;
    for (const ir::Block* from : op.regions()[r].blocks()) {
      blocks.push_back(block_ = module_.create_block(ir::types_of(from->arguments())));
      for (int i = 0; i < from->argument_count(); ++i)
        values[from->argument(i)] = block_->argument(i);
      for (const ir::Op& inner : *from) copy_op(inner, values);
    }
    module_.set_blocks(made->regions()[r], blocks);
  }
  block_ = outer;
}

Expression unary(K kind, const Expression& x) { return x.builder().make(kind, {x}, x.type()); }

Expression binary(K kind, const Expression& a, const Expression& b) {
  const Expression x = a.value() != nullptr ? a : a.like(b), y = b.like(x);
  return x.builder().make(kind, {x, y}, x.type());
}

Expression compare(ir::ComparisonDirection direction, const Expression& a, const Expression& b,
                   ir::ComparisonType type) {
  const Expression x = a.value() != nullptr ? a : a.like(b), y = b.like(x);
  Builder& t = x.builder();
  const auto word = [&](ir::EnumClass of, auto value) {
    return t.module().attribute(ir::EnumAttr{{}, of, static_cast<std::uint8_t>(value)});
  };
  std::vector<ir::NamedAttribute> attributes = {
      {"comparison_direction", word(ir::EnumClass::kComparisonDirection, direction)}};
  if (type != ir::ComparisonType::kNoType)
    attributes.push_back({"compare_type", word(ir::EnumClass::kComparisonType, type)});
  const ir::Type truths = t.like(x.type(), DType::kI1);
  return {t, t.add(K::kCompare, {x, y}, {&truths, 1}, attributes)->result()};
}

Expression select(const Expression& p, const Expression& a, const Expression& b) {
  Builder& t = p.builder();
  const ir::Type type = a.value() != nullptr   ? a.type()
                        : b.value() != nullptr ? b.type()
                                               : t.like(p.type(), DType::kF64);
  return t.make(K::kSelect, {p, a.as(t, type), b.as(t, type)}, type);
}

Expression convert(const Expression& x, DType to) {
  if (x.type().dtype() == to) return x;
  return x.builder().make(K::kConvert, {x}, x.builder().like(x.type(), to));
}

Expression bitcast(const Expression& x, DType to) {
  return x.builder().make(K::kBitcastConvert, {x}, x.builder().like(x.type(), to));
}

Expression polynomial(std::span<const double> coefficients, const Expression& x) {
  Expression value = Expression(coefficients.front()).like(x);
  for (const double c : coefficients.subspan(1)) value = value * x + c;
  return value;
}

}  // namespace millrace::devices::stablehlo::expand
