#include "millrace/devices/cpu/bytecode/to_stablehlo.h"

#include <algorithm>

#include "millrace/devices/cpu/bytecode/defaults.h"
#include "millrace/devices/cpu/bytecode/records.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using ir::Attribute;

// A null handle if the attribute is not of the kind that the role expects.
Attribute to_array(ir::Module& module, Attribute given, DType element) {
  std::vector<std::int64_t> values;
  if (!ints_of(given, &values)) return {};
  if (element == DType::kI1) {
    for (std::int64_t& value : values) value = value != 0 ? 1 : 0;
  }
  return module.attribute(
      ir::IntArrayAttr{{}, element, module.copy(std::span<const std::int64_t>(values))});
}

Attribute to_symbol(ir::Module& module, Attribute given) {
  const auto* text = given.as<ir::StringAttr>();
  if (text == nullptr || text->value.empty()) return {};
  return module.attribute(
      ir::SymbolAttr{{}, module.copy(std::span<const std::string_view>(&text->value, 1))});
}

Attribute to_symbols(ir::Module& module, Attribute given) {
  const auto* array = given.as<ir::ArrayAttr>();
  if (array == nullptr) return {};
  std::vector<Attribute> symbols;
  for (const Attribute text : array->values) {
    symbols.push_back(to_symbol(module, text));
    if (!symbols.back()) return {};
  }
  return module.attribute(ir::ArrayAttr{{}, module.copy(std::span<const Attribute>(symbols))});
}

Attribute to_channel(ir::Module& module, Attribute given) {
  const auto* id = given.as<ir::IntegerAttr>();
  if (id == nullptr) return {};
  ir::ChannelHandleAttr handle;
  handle.handle = id->value;
  return module.attribute(handle);
}

Attribute to_role(ir::Module& module, Role role, Attribute given) {
  switch (role) {
    case Role::kInts:
      return to_array(module, given, DType::kI64);
    case Role::kBools:
      return to_array(module, given, DType::kI1);
    case Role::kSymbol:
      return to_symbol(module, given);
    case Role::kSymbols:
      return to_symbols(module, given);
    case Role::kUnit:
      return given.as<ir::BoolAttr>() != nullptr ? module.attribute(ir::UnitAttr{}) : Attribute();
    case Role::kChannelId:
      return to_channel(module, given);
    case Role::kPlain:
    case Role::kApiVersion:
    case Role::kField:
      break;
  }
  return given;
}

// Of the layouts of a custom call both are there or none.
void complete_layouts(ir::Module& module, Attributes* out, std::size_t first) {
  const auto has = [&](std::string_view name) {
    return std::any_of(out->begin() + static_cast<std::ptrdiff_t>(first), out->end(),
                       [name](const ir::NamedAttribute& a) { return a.name == name; });
  };
  const bool operands = has("operand_layouts");
  const bool results = has("result_layouts");
  if (operands == results) return;
  out->push_back(
      {operands ? "result_layouts" : "operand_layouts", module.attribute(ir::ArrayAttr{})});
}

}  // namespace

bool ToStablehlo::convert_one(const VhloOp& op, std::size_t at, const ir::NamedAttribute& given,
                              Attributes* out) {
  const AttributeRule& rule = attribute_rule(op.kind, given.name);
  if (rule.role == Role::kField || is_default(rule.value, given.value)) return true;
  const std::string_view name = rule.role == Role::kChannelId ? "channel_handle" : given.name;
  Attribute value = given.value;
  if (rule.role != Role::kPlain) {
    Attribute& known = made_[{given.value.data(), rule.role}];
    if (!known) known = to_role(module_, rule.role, given.value);
    value = known;
  }
  if (!value) {
    return problem_.fail(at, "the attribute " + std::string(given.name) +
                                 " has a value of another kind than expected");
  }
  out->push_back({name, value});
  return true;
}

bool ToStablehlo::convert(const VhloOp& op, std::size_t at, const Attributes& given,
                          Attributes* out) {
  const std::size_t first = out->size();
  for (const ir::NamedAttribute& a : given) {
    if (!has_word(op.attributes, a.name)) {
      out->push_back(a);
    } else if (!convert_one(op, at, a, out)) {
      return false;
    }
  }
  std::string why;
  if (!make_records(module_, op.kind, given, out, &why)) return problem_.fail(at, why);
  if (op.kind == ir::OpKind::kCustomCall) complete_layouts(module_, out, first);
  return true;
}

}  // namespace millrace::devices::cpu::bytecode
