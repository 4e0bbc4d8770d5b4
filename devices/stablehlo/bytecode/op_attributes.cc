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

Attribute make(ir::Module& module, const Values& values, DType element = DType::kI64) {
  return module.attribute(
      ir::IntArrayAttr{{}, element, module.copy(std::span<const std::int64_t>(values))});
}

// The defaults that are the same for every operation, by Default; a null handle for the others.
Attribute constant(Default value) {
  static auto* const module = new ir::Module;  // for good
  static const auto* const all = [] {
    const auto integer = [&](std::int64_t n) {
      return module->attribute(ir::IntegerAttr{{}, n, module->types().scalar(DType::kI64)});
    };
    return new std::array{
        Attribute(),
        integer(0),
        integer(-1),
        module->attribute(ir::BoolAttr{}),
        module->attribute(ir::StringAttr{}),
        module->attribute(ir::ArrayAttr{}),
        module->attribute(ir::DictAttr{}),
        module->attribute(ir::EnumAttr{{}, ir::EnumClass::kComparisonType, 0}),
        module->attribute(ir::ResultAccuracyAttr{}),
        integer(1),
    };
  }();
  const auto i = static_cast<std::size_t>(value);
  return i < all->size() ? (*all)[i] : Attribute();
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
      return i != nullptr && i->value == constant(value).as<ir::IntegerAttr>()->value;
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

// A field of a record as an attribute of VHLO, and back: false for one of another kind.
struct FieldOf {
  ir::Module& module;

  Attribute make(ir::Ints value) const {
    return module.attribute(ir::IntArrayAttr{{}, DType::kI64, value});
  }
  Attribute make(std::int64_t value) const {
    return module.attribute(ir::IntegerAttr{{}, value, module.types().scalar(DType::kI64)});
  }
  Attribute make(DType value) const {
    return module.attribute(ir::TypeAttr{{}, module.types().scalar(value)});
  }
  Attribute make(bool value) const { return module.attribute(ir::BoolAttr{{}, value}); }
  Attribute make(auto) const { return {}; }

  // Earlier revisions lack some lists.
  bool take(Attribute a, ir::Ints* out) const {
    const auto values = a ? ints_of(a) : Values();
    if (values) *out = module.copy(std::span<const std::int64_t>(*values));
    return values.has_value();
  }
  bool take(Attribute a, std::int64_t* out) const {
    const auto* i = a.as<ir::IntegerAttr>();
    if (i != nullptr) *out = i->value;
    return i != nullptr;
  }
  bool take(Attribute a, DType* out) const {
    const auto* t = a.as<ir::TypeAttr>();
    *out = t != nullptr ? t->value.dtype() : DType::kInvalid;
    return *out != DType::kInvalid;
  }
  bool take(Attribute a, bool* out) const {
    const auto* b = a.as<ir::BoolAttr>();
    if (b != nullptr) *out = b->value;
    return b != nullptr;
  }
  bool take(Attribute, auto*) const { return false; }

  static std::string_view kind(const ir::Ints*) { return "a tensor of integers"; }
  static std::string_view kind(const std::int64_t*) { return "an integer"; }
  static std::string_view kind(const DType*) { return "an element type"; }
  static std::string_view kind(const bool*) { return "a bool"; }
  static std::string_view kind(const auto*) { return "a number"; }
};

bool is_none(Attribute a) {
  const auto* type = a.as<ir::TypeAttr>();
  return type != nullptr && type->value.kind() == ir::TypeKind::kNone;
}

// Appends the records of an operation, made of its fields; *why says what is wrong with a field.
bool make_records(ir::Module& module, ir::OpKind kind, const Attributes& fields, Attributes* out,
                  std::string* why) {
  ir::for_each_vhlo_record(kind, [&]<class R>(std::string_view name, R record) {
    if constexpr (std::is_same_v<R, ir::DotAlgorithmAttr>) {
      const Attribute count = find(fields, "lhs_component_count");
      if (!count || is_none(count)) return;
    }
    for (const ir::RecordField<R>& field : ir::kRecordFields<R>) {
      std::visit(
          [&](auto member) {
            auto* const to = &(record.*member);
            if (!FieldOf{module}.take(find(fields, field.vhlo), to) && why->empty()) {
              *why = "the attribute " + std::string(field.vhlo) + " is not " +
                     std::string(FieldOf::kind(to));
            }
          },
          field.member);
    }
    out->push_back({name, module.attribute(record)});
  });
  return why->empty();
}

Attribute to_symbol(ir::Module& module, Attribute given) {
  const auto* text = given.as<ir::StringAttr>();
  if (text == nullptr || text->value.empty()) return {};
  return module.attribute(
      ir::SymbolAttr{{}, module.copy(std::span<const std::string_view>(&text->value, 1))});
}

// A null handle if the attribute is not of the kind that the role expects.
Attribute to_role(ir::Module& module, Role role, Attribute given) {
  switch (role) {
    case Role::kInts:
    case Role::kBools: {
      auto values = ints_of(given);
      if (!values) return {};
      if (role == Role::kInts) return make(module, *values);
      for (std::int64_t& value : *values) value = value != 0 ? 1 : 0;
      return make(module, *values, DType::kI1);
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
      return module.attribute(ir::ArrayAttr{{}, module.copy(std::span<const Attribute>(symbols))});
    }
    case Role::kUnit:
      return given.as<ir::BoolAttr>() != nullptr ? module.attribute(ir::UnitAttr{}) : Attribute();
    case Role::kChannelId: {
      ir::ChannelHandleAttr handle;
      return FieldOf{module}.take(given, &handle.handle) ? module.attribute(handle) : Attribute();
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
  out->push_back(
      {operands ? "result_layouts" : "operand_layouts", module.attribute(ir::ArrayAttr{})});
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
      pool_.fail(ErrorCode::kUnimplemented, "the attribute " + std::string(a.name) +
                                                " needs version " + to_string(newest_->since) +
                                                " of VHLO or a later one");
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
    if (!value) {
      pool_.fail(ErrorCode::kInvalidArgument, "there is no attribute " + std::string(a.name));
      return 0;
    }
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
      case Default::kOriginal:
        return {};
      case Default::kOnes:
        return make(made_, Values(windows(), 1));
      case Default::kZeros: {
        const std::size_t size = windows() != 0 ? sizeof(std::int64_t) : 0;
        return made_.dense(
            made_.types().tensor({static_cast<std::int64_t>(windows()), 2}, DType::kI64), size != 0,
            std::make_shared<std::byte[]>(sizeof(std::int64_t)), size);
      }
      case Default::kFalses:
        return make(made_, Values(windows(), 0), DType::kI1);
      case Default::kNoInts:
        return make(made_, {});
      case Default::kEmptyConfig:
        // Typed calls, the fourth interface, take a dictionary.
        return constant(op_.int_or("api_version", 1) == 4 ? Default::kEmptyDict
                                                          : Default::kEmptyString);
      case Default::kPrecision: {
        const Attribute one = made_.attribute(ir::EnumAttr{{}, ir::EnumClass::kPrecision, 0});
        const Attribute both[] = {one, one};
        return made_.attribute(ir::ArrayAttr{{}, made_.copy(std::span<const Attribute>(both))});
      }
      default:
        return constant(value);
    }
  }

  EntryPool& pool_;
  ir::Module& made_;
  const ir::Op& op_;
  const VhloOp& row_;
  const VhloOp* newest_;
};

}  // namespace

bool ToStablehlo::convert_one(const VhloAttribute& attribute, std::size_t at, Attribute given,
                              Attributes* out) {
  const Role role = attribute.role;
  if (role == Role::kField || is_default(attribute.value, given)) return true;
  Attribute value = given;
  if (role != Role::kPlain) {
    Attribute& known = made_[{given.data(), role}];
    if (!known) known = to_role(module_, role, given);
    value = known;
  }
  if (!value) {
    return problem_.fail(at, "the attribute " + std::string(attribute.name) +
                                 " has a value of another kind than expected");
  }
  out->push_back({role == Role::kChannelId ? "channel_handle" : attribute.name, value});
  return true;
}

bool ToStablehlo::convert(const VhloOp& op, std::size_t at, const Attributes& given,
                          Attributes* out) {
  for (const ir::NamedAttribute& a : given) {
    const VhloAttribute* attribute = op.find(a.name);
    if (attribute == nullptr) {
      out->push_back(a);
    } else if (!convert_one(*attribute, at, a.value, out)) {
      return false;
    }
  }
  std::string why;
  if (!make_records(module_, op.kind, given, out, &why)) return problem_.fail(at, why);
  if (op.kind == ir::OpKind::kCustomCall) complete_layouts(module_, out);
  return true;
}

OpAttributes to_vhlo(EntryPool& pool, ir::Module& made, const ir::Op& op, const VhloOp& row) {
  return ToVhlo(pool, made, op, row).run();
}

}  // namespace millrace::devices::stablehlo::bytecode
