// Attribute: the constant facts of an operation, typed. A handle to an immutable record of its
// module; attribute.as<IntegerAttr>() gives the record, or nullptr if the attribute is something
// else. Read next: op.h, whose accessors (ints, int_or, attr<T>) are how passes read attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/ir/enums.h"
#include "millrace/devices/stablehlo/ir/type.h"

namespace millrace::devices::stablehlo::ir {

enum class AttrKind : std::uint8_t {
  kUnit,
  kBool,
  kInteger,
  kFloat,
  kString,
  kSymbol,
  kType,
  kArray,
  kDict,
  kIntArray,    // array<i64: 1, 2>, array<i1: true>
  kFloatArray,  // array<f32: 1.0>
  kDense,       // dense<...> : tensor<...>, dense_resource<key>
  kEnum,        // #stablehlo<comparison_direction LT> and its like
  kDotDims,
  kConvDims,
  kGatherDims,
  kScatterDims,
  kChannelHandle,
  kOutputAlias,
  kResultAccuracy,
  kDotAlgorithm,
  kBounds,
  kOpaque,  // of another dialect, kept as text
};

// The first member of every record below.
struct AttributeData {
  AttrKind kind;
};

// A handle, as cheap as a pointer; valid as long as its module. Thread-safety: immutable.
class Attribute {
 public:
  Attribute() = default;
  explicit Attribute(const AttributeData* data) : data_(data) {}
  explicit operator bool() const { return data_ != nullptr; }
  AttrKind kind() const { return data_->kind; }
  const AttributeData* data() const { return data_; }
  template <class T>
  const T* as() const {
    return data_ != nullptr && data_->kind == T::kKind ? static_cast<const T*>(data_) : nullptr;
  }

 private:
  const AttributeData* data_ = nullptr;
};

struct NamedAttribute {
  std::string_view name;
  Attribute value;
};

// In a list sorted by name; a null handle if absent.
Attribute find(std::span<const NamedAttribute> sorted, std::string_view name);

// Gives a record its kind: struct XAttr : AttributeOf<AttrKind::kX>.
template <AttrKind K>
struct AttributeOf : AttributeData {
  static constexpr AttrKind kKind = K;
  AttributeOf() : AttributeData{K} {}
};

struct UnitAttr : AttributeOf<AttrKind::kUnit> {};
struct BoolAttr : AttributeOf<AttrKind::kBool> {
  bool value = false;
};
struct IntegerAttr : AttributeOf<AttrKind::kInteger> {
  std::int64_t value = 0;  // two's complement of the type's width; ui64 above 2^63 by its bits
  Type type;               // kScalar or kIndex
};
struct FloatAttr : AttributeOf<AttrKind::kFloat> {
  std::uint64_t bits = 0;  // in the format of type
  Type type;
  double value() const;
};
struct StringAttr : AttributeOf<AttrKind::kString> {
  std::string_view value;
};
struct SymbolAttr : AttributeOf<AttrKind::kSymbol> {
  std::span<const std::string_view> path;  // @a::@b is {"a", "b"}
};
struct TypeAttr : AttributeOf<AttrKind::kType> {
  Type value;
};
struct ArrayAttr : AttributeOf<AttrKind::kArray> {
  std::span<const Attribute> values;
};
struct DictAttr : AttributeOf<AttrKind::kDict> {
  std::span<const NamedAttribute> values;  // sorted by name
};
struct IntArrayAttr : AttributeOf<AttrKind::kIntArray> {
  DType element = DType::kI64;  // i1: values are 0 and 1
  std::span<const std::int64_t> values;
};
struct FloatArrayAttr : AttributeOf<AttrKind::kFloatArray> {
  DType element = DType::kF64;
  std::span<const std::uint64_t> bits;
};

// Raw elements, row-major, little-endian, byte_width(dtype) bytes each: i1 is a byte 0 or 1, signed
// sub-byte integers are sign-extended, unsigned ones zero-extended. A splat holds one element,
// whatever the shape.
struct DenseAttr : AttributeOf<AttrKind::kDense> {
  Type type;
  bool splat = false;
  std::span<const std::byte> bytes;
  // Shares the bytes: they may outlive the module without a copy.
  std::shared_ptr<const std::byte[]> share() const { return *owner; }
  const std::shared_ptr<const std::byte[]>* owner = nullptr;
};

struct EnumAttr : AttributeOf<AttrKind::kEnum> {
  EnumClass enum_class = EnumClass::kComparisonDirection;
  std::uint8_t value = 0;
};

using Ints = std::span<const std::int64_t>;

struct DotDimsAttr : AttributeOf<AttrKind::kDotDims> {
  Ints lhs_batching, rhs_batching, lhs_contracting, rhs_contracting;
};
struct ConvDimsAttr : AttributeOf<AttrKind::kConvDims> {
  std::int64_t input_batch = 0, input_feature = 0;
  std::int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  std::int64_t output_batch = 0, output_feature = 0;
  Ints input_spatial, kernel_spatial, output_spatial;
};
struct GatherDimsAttr : AttributeOf<AttrKind::kGatherDims> {
  Ints offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims,
      start_index_map;
  std::int64_t index_vector_dim = 0;
};
struct ScatterDimsAttr : AttributeOf<AttrKind::kScatterDims> {
  Ints update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims;
  Ints scatter_dims_to_operand_dims;
  std::int64_t index_vector_dim = 0;
};
struct ChannelHandleAttr : AttributeOf<AttrKind::kChannelHandle> {
  std::int64_t handle = 0, type = 0;
};
struct OutputAliasAttr : AttributeOf<AttrKind::kOutputAlias> {
  Ints output_tuple_indices, operand_tuple_indices;
  std::int64_t operand_index = 0;
};
struct ResultAccuracyAttr : AttributeOf<AttrKind::kResultAccuracy> {
  double atol = 0, rtol = 0;
  std::int64_t ulps = 0;
  AccuracyMode mode = AccuracyMode::kDefault;
};
struct DotAlgorithmAttr : AttributeOf<AttrKind::kDotAlgorithm> {
  DType lhs_precision = DType::kInvalid, rhs_precision = DType::kInvalid,
        accumulation = DType::kInvalid;
  std::int64_t lhs_components = 1, rhs_components = 1, primitive_operations = 1;
  bool allow_imprecise_accumulation = false;
};
struct BoundsAttr : AttributeOf<AttrKind::kBounds> {
  Ints bounds;  // kDynamic where there is none
};
struct OpaqueAttr : AttributeOf<AttrKind::kOpaque> {
  std::string_view text;
};

// The integers of an IntArrayAttr, of an ArrayAttr of integers or bools, or of a DenseAttr of
// integers or bools (a splat expanded); nullopt for anything else, for more than 65,536 of them or
// for a splat of more than 4,096.
std::optional<std::vector<std::int64_t>> to_ints(Attribute attribute);

// The type of an element in memory: index is i64; kInvalid for what cannot be stored.
DType stored_type(Type type);

// An integer, little-endian, sign- or zero-extended by its type.
std::int64_t load_int(const std::byte* element, DType type);

// Brings elements of less than a byte, one byte each, to their form in memory: what is above their
// bits is their sign, or nothing.
void normalise(DType type, std::span<std::byte> bytes);

// i1 eight to a byte, lowest bit first, to one byte each.
void unpack_bits(std::span<const std::byte> packed, std::span<std::byte> out);

}  // namespace millrace::devices::stablehlo::ir
