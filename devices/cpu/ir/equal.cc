// Structural equality of attributes and modules, for tests and caches. Locations are not compared.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/devices/cpu/ir/attribute.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::ir {
namespace {

bool same(Ints a, Ints b) { return std::ranges::equal(a, b); }

bool same(std::span<const NamedAttribute> a, std::span<const NamedAttribute> b) {
  return std::ranges::equal(a, b, [](const NamedAttribute& x, const NamedAttribute& y) {
    return x.name == y.name && equal(x.value, y.value);
  });
}

bool same(const UnitAttr&, const UnitAttr&) { return true; }
bool same(const BoolAttr& a, const BoolAttr& b) { return a.value == b.value; }
bool same(const IntegerAttr& a, const IntegerAttr& b) {
  return a.value == b.value && equal(a.type, b.type);
}
bool same(const FloatAttr& a, const FloatAttr& b) {
  return a.bits == b.bits && equal(a.type, b.type);
}
bool same(const StringAttr& a, const StringAttr& b) { return a.value == b.value; }
bool same(const SymbolAttr& a, const SymbolAttr& b) { return std::ranges::equal(a.path, b.path); }
bool same(const TypeAttr& a, const TypeAttr& b) { return equal(a.value, b.value); }
bool same(const ArrayAttr& a, const ArrayAttr& b) {
  return std::ranges::equal(a.values, b.values,
                            [](Attribute x, Attribute y) { return equal(x, y); });
}
bool same(const DictAttr& a, const DictAttr& b) { return same(a.values, b.values); }
bool same(const IntArrayAttr& a, const IntArrayAttr& b) {
  return a.element == b.element && same(a.values, b.values);
}
bool same(const FloatArrayAttr& a, const FloatArrayAttr& b) {
  return a.element == b.element && std::ranges::equal(a.bits, b.bits);
}
bool same(const DenseAttr& a, const DenseAttr& b) {
  return equal(a.type, b.type) && a.splat == b.splat && std::ranges::equal(a.bytes, b.bytes);
}
bool same(const EnumAttr& a, const EnumAttr& b) {
  return a.enum_class == b.enum_class && a.value == b.value;
}
bool same(const DotDimsAttr& a, const DotDimsAttr& b) {
  return same(a.lhs_batching, b.lhs_batching) && same(a.rhs_batching, b.rhs_batching) &&
         same(a.lhs_contracting, b.lhs_contracting) && same(a.rhs_contracting, b.rhs_contracting);
}
bool same(const ConvDimsAttr& a, const ConvDimsAttr& b) {
  return a.input_batch == b.input_batch && a.input_feature == b.input_feature &&
         a.kernel_input_feature == b.kernel_input_feature &&
         a.kernel_output_feature == b.kernel_output_feature && a.output_batch == b.output_batch &&
         a.output_feature == b.output_feature && same(a.input_spatial, b.input_spatial) &&
         same(a.kernel_spatial, b.kernel_spatial) && same(a.output_spatial, b.output_spatial);
}
bool same(const GatherDimsAttr& a, const GatherDimsAttr& b) {
  return same(a.offset_dims, b.offset_dims) &&
         same(a.collapsed_slice_dims, b.collapsed_slice_dims) &&
         same(a.operand_batching_dims, b.operand_batching_dims) &&
         same(a.start_indices_batching_dims, b.start_indices_batching_dims) &&
         same(a.start_index_map, b.start_index_map) && a.index_vector_dim == b.index_vector_dim;
}
bool same(const ScatterDimsAttr& a, const ScatterDimsAttr& b) {
  return same(a.update_window_dims, b.update_window_dims) &&
         same(a.inserted_window_dims, b.inserted_window_dims) &&
         same(a.input_batching_dims, b.input_batching_dims) &&
         same(a.scatter_indices_batching_dims, b.scatter_indices_batching_dims) &&
         same(a.scatter_dims_to_operand_dims, b.scatter_dims_to_operand_dims) &&
         a.index_vector_dim == b.index_vector_dim;
}
bool same(const ChannelHandleAttr& a, const ChannelHandleAttr& b) {
  return a.handle == b.handle && a.type == b.type;
}
bool same(const OutputAliasAttr& a, const OutputAliasAttr& b) {
  return same(a.output_tuple_indices, b.output_tuple_indices) &&
         same(a.operand_tuple_indices, b.operand_tuple_indices) &&
         a.operand_index == b.operand_index;
}
bool same(const ResultAccuracyAttr& a, const ResultAccuracyAttr& b) {
  // By their bits: a NaN equals itself.
  return std::bit_cast<std::uint64_t>(a.atol) == std::bit_cast<std::uint64_t>(b.atol) &&
         std::bit_cast<std::uint64_t>(a.rtol) == std::bit_cast<std::uint64_t>(b.rtol) &&
         a.ulps == b.ulps && a.mode == b.mode;
}
bool same(const DotAlgorithmAttr& a, const DotAlgorithmAttr& b) {
  return a.lhs_precision == b.lhs_precision && a.rhs_precision == b.rhs_precision &&
         a.accumulation == b.accumulation && a.lhs_components == b.lhs_components &&
         a.rhs_components == b.rhs_components && a.primitive_operations == b.primitive_operations &&
         a.allow_imprecise_accumulation == b.allow_imprecise_accumulation;
}
bool same(const BoundsAttr& a, const BoundsAttr& b) { return same(a.bounds, b.bounds); }
bool same(const OpaqueAttr& a, const OpaqueAttr& b) { return a.text == b.text; }

template <class T>
bool same_as(Attribute a, Attribute b) {
  return same(*a.as<T>(), *b.as<T>());
}

// Compares two modules; the first difference is described in why().
class Comparison {
 public:
  explicit Comparison(const Module& a) : twins_(static_cast<std::size_t>(a.value_ids())) {}

  bool modules(const Module& a, const Module& b) {
    if (a.name() != b.name()) return differ("module names");
    if (!same(a.attributes(), b.attributes())) return differ("module attributes");
    if (a.functions().size() != b.functions().size()) return differ("numbers of functions");
    if (!blocks(a.top_level(), b.top_level())) return false;
    for (std::size_t i = 0; i < a.functions().size(); ++i) {
      if (!functions(a.functions()[i], b.functions()[i])) return false;
    }
    return true;
  }

  const std::string& why() const { return why_; }

 private:
  bool differ(std::string what) {
    why_ = std::move(what) + " differ";
    return false;
  }

  bool types(std::span<const Type> a, std::span<const Type> b) {
    return std::ranges::equal(a, b, [](Type x, Type y) { return equal(x, y); });
  }

  bool functions(const Function& a, const Function& b) {
    const std::string name = "function @" + std::string(a.name());
    if (a.name() != b.name() || a.visibility() != b.visibility()) return differ(name + ": names");
    if (!types(a.inputs(), b.inputs()) || !types(a.results(), b.results()))
      return differ(name + ": signatures");
    if (!same(a.attributes(), b.attributes())) return differ(name + ": attributes");
    for (std::size_t i = 0; i < a.inputs().size(); ++i) {
      const int n = static_cast<int>(i);
      if (!same(a.arg_attributes(n), b.arg_attributes(n)))
        return differ(name + ": argument attributes");
    }
    for (std::size_t i = 0; i < a.results().size(); ++i) {
      const int n = static_cast<int>(i);
      if (!same(a.result_attributes(n), b.result_attributes(n)))
        return differ(name + ": result attributes");
    }
    return regions(a.body(), b.body()) || differ(name + ": " + why_ + ": bodies");
  }

  bool regions(const Region& a, const Region& b) {
    if (a.blocks().size() != b.blocks().size()) return differ("numbers of blocks");
    for (std::size_t i = 0; i < a.blocks().size(); ++i) {
      if (!blocks(*a.blocks()[i], *b.blocks()[i])) return false;
    }
    return true;
  }

  bool blocks(const Block& a, const Block& b) {
    if (a.argument_count() != b.argument_count()) return differ("numbers of block arguments");
    for (int i = 0; i < a.argument_count(); ++i) {
      if (!equal(a.argument(i)->type(), b.argument(i)->type()))
        return differ("block argument types");
      pair(a.argument(i), b.argument(i));
    }
    auto x = a.begin();
    auto y = b.begin();
    for (; x != a.end() && y != b.end(); ++x, ++y) {
      if (!ops(*x, *y)) return false;
    }
    return (x == a.end() && y == b.end()) || differ("numbers of ops");
  }

  bool ops(const Op& a, const Op& b) {
    if (a.kind() != b.kind() || a.name() != b.name()) return differ(a.where() + ": names");
    if (!same(a.attributes(), b.attributes())) return differ(a.where() + ": attributes");
    if (a.operand_count() != b.operand_count()) return differ(a.where() + ": numbers of operands");
    for (int i = 0; i < a.operand_count(); ++i) {
      if (twins_[static_cast<std::size_t>(a.operand(i)->id())] != b.operand(i))
        return differ(a.where() + ": operands");
    }
    if (a.result_count() != b.result_count()) return differ(a.where() + ": numbers of results");
    for (int i = 0; i < a.result_count(); ++i) {
      if (!equal(a.result(i)->type(), b.result(i)->type()))
        return differ(a.where() + ": result types");
      pair(a.result(i), b.result(i));
    }
    if (a.regions().size() != b.regions().size()) return differ(a.where() + ": numbers of regions");
    if (a.successors().size() != b.successors().size())
      return differ(a.where() + ": numbers of successors");
    for (std::size_t i = 0; i < a.regions().size(); ++i) {
      if (!regions(a.regions()[i], b.regions()[i])) return false;
    }
    return true;
  }

  void pair(const Value* a, const Value* b) { twins_[static_cast<std::size_t>(a->id())] = b; }

  std::vector<const Value*> twins_;  // by id in the first module
  std::string why_;
};

}  // namespace

bool equal(Attribute a, Attribute b) {
  if (a.data() == b.data()) return true;
  if (!a || !b || a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case AttrKind::kUnit:
      return same_as<UnitAttr>(a, b);
    case AttrKind::kBool:
      return same_as<BoolAttr>(a, b);
    case AttrKind::kInteger:
      return same_as<IntegerAttr>(a, b);
    case AttrKind::kFloat:
      return same_as<FloatAttr>(a, b);
    case AttrKind::kString:
      return same_as<StringAttr>(a, b);
    case AttrKind::kSymbol:
      return same_as<SymbolAttr>(a, b);
    case AttrKind::kType:
      return same_as<TypeAttr>(a, b);
    case AttrKind::kArray:
      return same_as<ArrayAttr>(a, b);
    case AttrKind::kDict:
      return same_as<DictAttr>(a, b);
    case AttrKind::kIntArray:
      return same_as<IntArrayAttr>(a, b);
    case AttrKind::kFloatArray:
      return same_as<FloatArrayAttr>(a, b);
    case AttrKind::kDense:
      return same_as<DenseAttr>(a, b);
    case AttrKind::kEnum:
      return same_as<EnumAttr>(a, b);
    case AttrKind::kDotDims:
      return same_as<DotDimsAttr>(a, b);
    case AttrKind::kConvDims:
      return same_as<ConvDimsAttr>(a, b);
    case AttrKind::kGatherDims:
      return same_as<GatherDimsAttr>(a, b);
    case AttrKind::kScatterDims:
      return same_as<ScatterDimsAttr>(a, b);
    case AttrKind::kChannelHandle:
      return same_as<ChannelHandleAttr>(a, b);
    case AttrKind::kOutputAlias:
      return same_as<OutputAliasAttr>(a, b);
    case AttrKind::kResultAccuracy:
      return same_as<ResultAccuracyAttr>(a, b);
    case AttrKind::kDotAlgorithm:
      return same_as<DotAlgorithmAttr>(a, b);
    case AttrKind::kBounds:
      return same_as<BoundsAttr>(a, b);
    case AttrKind::kOpaque:
      return same_as<OpaqueAttr>(a, b);
  }
  return false;
}

bool equal(const Module& a, const Module& b, std::string* why) {
  Comparison comparison(a);
  if (comparison.modules(a, b)) return true;
  if (why != nullptr) *why = comparison.why();
  return false;
}

}  // namespace millrace::devices::cpu::ir
