#include "millrace/devices/stablehlo/bytecode/op_attributes.h"

#include <algorithm>
#include <array>

#include "millrace/devices/stablehlo/ir/records.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using ir::Attribute;
using Values = std::vector<std::int64_t>;

// So many equal numbers may a splat stand for: dimensions are few.
constexpr std::int64_t kMaxSplat = 16;

// The integers of a tensor, or of one splat to a few; nullopt for anything else.
std::optional<Values> ints_of(Attribute attribute) {
  const auto* dense = attribute.as<ir::DenseAttr>();
  if (dense == nullptr || (dense->splat && dense->type.elements().value_or(0) > kMaxSplat))
    return std::nullopt;
  return ir::to_ints(attribute);
}

bool all_are(Attribute attribute, std::int64_t value) {
  const auto values = ir::to_ints(attribute);
  return values && !values->empty() && std::ranges::count(*values, value) == std::ssize(*values);
}

// Whether the attribute of VHLO has the default value.
bool is_default(Default value, Attribute a) {
  const auto is_enum = [](Attribute one, ir::EnumClass of) {
    const auto* e = one.as<ir::EnumAttr>();
    return e != nullptr && e->enum_class == of && e->value == 0;
  };
  switch (value) {
    case Default::kNone:
      return false;
    case Default::kZero:
    case Default::kMinusOne:
    case Default::kOriginal: {
      const auto* i = a.as<ir::IntegerAttr>();
      const int expected = value == Default::kZero ? 0 : value == Default::kMinusOne ? -1 : 1;
      return i != nullptr && i->value == expected;
    }
    case Default::kFalse:
      return a.as<ir::BoolAttr>() != nullptr && !a.as<ir::BoolAttr>()->value;
    case Default::kEmptyString:
      return a.as<ir::StringAttr>() != nullptr && a.as<ir::StringAttr>()->value.empty();
    case Default::kEmptyArray:
      return a.as<ir::ArrayAttr>() != nullptr && a.as<ir::ArrayAttr>()->values.empty();
    case Default::kEmptyDict:
      return a.as<ir::DictAttr>() != nullptr && a.as<ir::DictAttr>()->values.empty();
    case Default::kEmptyConfig:
      return is_default(Default::kEmptyString, a) || is_default(Default::kEmptyDict, a);
    case Default::kNoInts:
      return a.as<ir::DenseAttr>() != nullptr && a.as<ir::DenseAttr>()->bytes.empty();
    case Default::kOnes:
      return all_are(a, 1);
    case Default::kZeros:
    case Default::kFalses:
      return all_are(a, 0);
    case Default::kNoType:
      return is_enum(a, ir::EnumClass::kComparisonType);
    case Default::kPrecision:
      return a.as<ir::ArrayAttr>() != nullptr &&
             std::ranges::all_of(a.as<ir::ArrayAttr>()->values, [&](Attribute one) {
               return is_enum(one, ir::EnumClass::kPrecision);
             });
    case Default::kAccuracy: {
      const auto* r = a.as<ir::ResultAccuracyAttr>();
      return r != nullptr && r->atol == 0 && r->rtol == 0 && r->ulps == 0 &&
             r->mode == ir::AccuracyMode::kDefault;
    }
  }
  return false;
}

// A field of a record as an attribute of VHLO, and back: what take expects if that is not the
// attribute's kind, else "".
struct FieldOf {
  ir::Module& module;

  Attribute make(ir::Ints value) const { return module.integers(value); }
  Attribute make(std::int64_t value) const { return module.integer(value); }
  Attribute make(DType value) const {
    return module.attribute(ir::TypeAttr{{}, module.types().scalar(value)});
  }
  Attribute make(bool value) const { return module.attribute(ir::BoolAttr{{}, value}); }
  Attribute make(auto) const { return {}; }

  // Earlier revisions lack some lists.
  std::string_view take(Attribute a, ir::Ints* out) const {
    const auto values = a ? ints_of(a) : Values();
    if (!values) return "a tensor of integers";
    *out = module.copy(*values);
    return "";
  }
  std::string_view take(Attribute a, std::int64_t* out) const {
    const auto* i = a.as<ir::IntegerAttr>();
    if (i == nullptr) return "an integer";
    *out = i->value;
    return "";
  }
  std::string_view take(Attribute a, DType* out) const {
    const auto* t = a.as<ir::TypeAttr>();
    *out = t != nullptr ? t->value.dtype() : DType::kInvalid;
    return *out == DType::kInvalid ? "an element type" : "";
  }
  std::string_view take(Attribute a, bool* out) const {
    const auto* b = a.as<ir::BoolAttr>();
    if (b == nullptr) return "a bool";
    *out = b->value;
    return "";
  }
  std::string_view take(Attribute, auto*) const { return "a number"; }
};

bool is_none(Attribute a) {
  const auto* type = a.as<ir::TypeAttr>();
  return type != nullptr && type->value.kind() == ir::TypeKind::kNone;
}

// Appends the records of an operation, made of its fields; what is wrong with a field, if anything.
std::string make_records(ir::Module& module, ir::OpKind kind, const Attributes& fields,
                         Attributes* out) {
  std::string why;
  ir::for_each_vhlo_record(kind, [&]<class R>(std::string_view name, R record) {
    if constexpr (std::is_same_v<R, ir::DotAlgorithmAttr>) {
      const Attribute count = find(fields, "lhs_component_count");
      if (!count || is_none(count)) return;
    }
    for (const ir::RecordField<R>& field : ir::kRecordFields<R>) {
      std::visit(
          [&](auto member) {
            const auto expected = FieldOf{module}.take(find(fields, field.vhlo), &(record.*member));
            if (!expected.empty() && why.empty()) {
              why = "the attribute " + std::string(field.vhlo) + " is not " + std::string(expected);
            }
          },
          field.member);
    }
    out->push_back({name, module.attribute(record)});
  });
  return why;
}

Attribute to_symbol(ir::Module& module, Attribute given) {
  const auto* text = given.as<ir::StringAttr>();
  return text == nullptr || text->value.empty() ? Attribute() : module.symbol(text->value);
}

// A null handle if the attribute is not of the kind that the role expects.
Attribute made_for(ir::Module& module, Role role, Attribute given) {
  switch (role) {
    case Role::kInts:
    case Role::kBools: {
      auto values = ints_of(given);
      if (!values) return {};
      if (role == Role::kInts) return module.integers(*values);
      for (std::int64_t& value : *values) value = value != 0 ? 1 : 0;
      return module.integers(*values, DType::kI1);
    }
    case Role::kSymbol:
      return to_symbol(module, given);
    case Role::kSymbols: {
      const auto* array = given.as<ir::ArrayAttr>();
      if (array == nullptr) return {};
      std::vector<Attribute> symbols;
      for (const Attribute text : array->values) {
        symbols.push_back(to_symbol(module, text));
        if (!symbols.back()) return {};
      }
      return module.array(symbols);
    }
    case Role::kUnit:
      return given.as<ir::BoolAttr>() != nullptr ? module.attribute(ir::UnitAttr{}) : Attribute();
    case Role::kChannelId: {
      ir::ChannelHandleAttr handle;
      return FieldOf{module}.take(given, &handle.handle).empty() ? module.attribute(handle)
                                                                 : Attribute();
    }
    case Role::kPlain:
    case Role::kApiVersion:
    case Role::kField:
      break;
  }
  return given;
}

// A custom call has both of its layouts or none.
void complete_layouts(ir::Module& module, Attributes* out) {
  const bool operands = bool(find(*out, "operand_layouts"));
  if (operands == bool(find(*out, "result_layouts"))) return;
  out->push_back({operands ? "result_layouts" : "operand_layouts", module.array({})});
}

class ToVhlo {
 public:
  ToVhlo(EntryPool& pool, ir::Module& made, const ir::Op& op, const VhloOp& row)
      : pool_(pool), made_(made), op_(op), row_(row) {
    const VhloOp* newest = find_vhlo_op(row.name, kNewestVersion);
    newest_ = newest != nullptr ? newest : &row;
  }

  OpAttributes run() {
    OpAttributes out;
    for (const VhloAttribute& a : row_.attributes) out.inherent.emplace_back(a.name, inherent(a));
    check_later_revision();
    for (const ir::NamedAttribute& a : op_.attributes()) {
      // How a partitioner may divide the operation; JAX writes it beside calls of LAPACK. A hint,
      // and of another dialect.
      if (is_inherent(a.name) || a.name == "sdy.sharding_rule") continue;
      out.others.emplace_back(a.name, pool_.attribute(a.value));
    }
    return out;
  }

 private:
  bool is_inherent(std::string_view name) const {
    bool found = newest_->find(name) != nullptr ||
                 (name == "channel_handle" && newest_->find("channel_id") != nullptr);
    ir::for_each_vhlo_record(
        op_.kind(), [&](std::string_view record, const auto&) { found = found || record == name; });
    return found;
  }

  // What only a later revision can say must not be said.
  void check_later_revision() {
    for (const VhloAttribute& a : newest_->attributes) {
      if (row_.find(a.name) != nullptr) continue;
      const Attribute value = a.role == Role::kField ? field(a.name) : op_.attr(a.name);
      const auto* ints = value.as<ir::IntArrayAttr>();
      const bool left_out = !value || is_none(value) || (ints != nullptr && ints->values.empty());
      if (left_out || is_default(a.value, value)) continue;
      pool_.needs(newest_->since, "the attribute " + std::string(a.name));
    }
  }

  // A field of a record; of an algorithm that is left out the type none.
  Attribute field(std::string_view name) {
    Attribute value;
    ir::for_each_vhlo_record(op_.kind(), [&]<class R>(std::string_view record, const R&) {
      const R* given = op_.attr<R>(record);
      for (const ir::RecordField<R>& f : ir::kRecordFields<R>) {
        if (f.vhlo != name) continue;
        if (given != nullptr) {
          value = std::visit([&](auto m) { return FieldOf{made_}.make(given->*m); }, f.member);
        } else if (std::is_same_v<R, ir::DotAlgorithmAttr>) {
          value = made_.attribute(ir::TypeAttr{{}, made_.types().none()});
        }
      }
    });
    return value;
  }

  std::uint64_t inherent(const VhloAttribute& a) {
    Attribute value = op_.attr(a.name);
    if (a.role == Role::kApiVersion) return pool_.api_version(op_.int_or(a.name, 1));
    if (a.role == Role::kField) value = field(a.name);
    if (a.role == Role::kUnit) value = FieldOf{made_}.make(op_.bool_or(a.name, false));
    if (a.role == Role::kChannelId) {
      const auto* handle = op_.attr<ir::ChannelHandleAttr>("channel_handle");
      value = handle != nullptr ? FieldOf{made_}.make(handle->handle) : Attribute();
    }
    if (!value) value = default_of(a.value);
    if (!value)
      throw Error(ErrorCode::kInvalidArgument, "there is no attribute " + std::string(a.name));
    // Symbols are strings, arrays of numbers are tensors: the pool's encodings are that.
    return pool_.attribute(value);
  }

  // The number of an operation's windows, or of a convolution's spatial dimensions.
  std::size_t windows() const {
    if (const auto* conv = op_.attr<ir::ConvDimsAttr>("dimension_numbers"))
      return conv->input_spatial.size();
    return op_.ints("window_dimensions").value_or(Values()).size();
  }

  Attribute default_of(Default value) {
    switch (value) {
      case Default::kNone:
      case Default::kOriginal:
        return {};
      case Default::kZero:
        return made_.integer(0);
      case Default::kMinusOne:
        return made_.integer(-1);
      case Default::kFalse:
        return made_.attribute(ir::BoolAttr{});
      case Default::kEmptyString:
        return made_.string("");
      case Default::kEmptyArray:
        return made_.array({});
      case Default::kEmptyDict:
        return made_.attribute(ir::DictAttr{});
      case Default::kEmptyConfig:
        // Typed calls, the fourth interface, take a dictionary.
        return default_of(op_.int_or("api_version", 1) == 4 ? Default::kEmptyDict
                                                            : Default::kEmptyString);
      case Default::kNoType:
        return made_.attribute(ir::EnumAttr{{}, ir::EnumClass::kComparisonType, 0});
      case Default::kAccuracy:
        return made_.attribute(ir::ResultAccuracyAttr{});
      case Default::kOnes:
        return made_.integers(Values(windows(), 1));
      case Default::kZeros: {
        const auto n = static_cast<std::int64_t>(windows());
        const Values zero(n != 0 ? 1 : 0);
        return made_.dense(made_.types().tensor({n, 2}, DType::kI64), n != 0,
                           std::as_bytes(std::span(zero)));
      }
      case Default::kFalses:
        return made_.integers(Values(windows(), 0), DType::kI1);
      case Default::kNoInts:
        return made_.integers({});
      case Default::kPrecision: {
        const Attribute one = made_.attribute(ir::EnumAttr{{}, ir::EnumClass::kPrecision, 0});
        return made_.array(std::array{one, one});
      }
    }
    return {};
  }

  EntryPool& pool_;
  ir::Module& made_;
  const ir::Op& op_;
  const VhloOp& row_;
  const VhloOp* newest_;
};

}  // namespace

Attribute ToStablehlo::to_role(Role role, Attribute given) {
  if (role == Role::kPlain) return given;
  Attribute& known = made_[{given.data(), role}];
  if (!known) known = made_for(module_, role, given);
  return known;
}

Attributes ToStablehlo::convert(const VhloOp& op, std::size_t at, const Attributes& given) {
  Attributes out;
  for (const ir::NamedAttribute& a : given) {
    const VhloAttribute* attribute = op.find(a.name);
    if (attribute == nullptr) {
      out.push_back(a);
      continue;
    }
    if (attribute->role == Role::kField || is_default(attribute->value, a.value)) continue;
    const Attribute value = to_role(attribute->role, a.value);
    if (!value) {
      file_.fail(at, "the attribute " + std::string(a.name) +
                         " has a value of another kind than expected");
    }
    out.push_back({attribute->role == Role::kChannelId ? "channel_handle" : a.name, value});
  }
  const std::string why = make_records(module_, op.kind, given, &out);
  if (!why.empty()) file_.fail(at, why);
  if (op.kind == ir::OpKind::kCustomCall) complete_layouts(module_, &out);
  return out;
}

OpAttributes to_vhlo(EntryPool& pool, ir::Module& made, const ir::Op& op, const VhloOp& row) {
  return ToVhlo(pool, made, op, row).run();
}

}  // namespace millrace::devices::stablehlo::bytecode
