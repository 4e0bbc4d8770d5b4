// Type: the type of a value or of an attribute, as MLIR and StableHLO spell it. Types are made once
// per module by its TypeTable, so within one module equal types are the same pointer. Read next:
// attribute.h, op.h; the maker is type_table.h.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "millrace/devices/shape.h"

namespace millrace::devices::stablehlo::ir {

// A dimension or bound that the text writes as '?'.
inline constexpr std::int64_t kDynamic = std::numeric_limits<std::int64_t>::min();

enum class TypeKind : std::uint8_t {
  kScalar,    // a bare element type, f32 or complex<f64>, as attributes have it
  kIndex,     // index
  kNone,      // none
  kToken,     // !stablehlo.token
  kTensor,    // tensor<2x?xf32>: dims, element, perhaps bounds
  kUnranked,  // tensor<*xf32>: element
  kMemRef,    // memref<2xf32>: dims, element
  kTuple,     // tuple<T, U>: members
  kFuture,    // !stablehlo.future<T, U>: members
  kQuant,     // !quant.uniform<...>: quant
  kFunction,  // (T) -> U: members are the inputs, results the results
  kOpaque,    // anything else, by its text
};

struct TypeData;
struct QuantParameters;

// A handle, as cheap as a pointer; valid as long as its module. Thread-safety: immutable.
class Type {
 public:
  Type() = default;
  explicit Type(const TypeData* data) : data_(data) {}

  explicit operator bool() const { return data_ != nullptr; }
  bool operator==(const Type&) const = default;
  const TypeData* data() const { return data_; }

  inline TypeKind kind() const;
  bool is_tensor() const { return data_ != nullptr && kind() == TypeKind::kTensor; }
  // The element type of a tensor or memref, the type itself otherwise.
  inline Type element() const;
  // The plain element type of a scalar, tensor or memref; kInvalid for quantised, index and others.
  inline DType dtype() const;
  inline std::span<const std::int64_t> dims() const;
  int rank() const { return static_cast<int>(dims().size()); }
  std::int64_t dim(std::int64_t i) const { return dims()[static_cast<std::size_t>(i)]; }
  // Per dimension: its bound (kDynamic: none). Empty if the type has no bounds.
  inline std::span<const std::int64_t> bounds() const;
  // Tuple members or function inputs.
  inline std::span<const Type> members() const;
  inline std::span<const Type> results() const;
  inline const QuantParameters* quant() const;

  bool has_static_shape() const;
  // The product of the dimensions; nullopt if one is dynamic or the product does not fit.
  std::optional<std::int64_t> elements() const;
  // elements() * byte_width(dtype()); nullopt as above or for an element without a plain dtype.
  std::optional<std::int64_t> size_bytes() const;
  // As a buffer's shape; nullopt if dynamic, not plain, or of more than kMaxRank dimensions.
  std::optional<Shape> shape() const;

  // How many arrays a caller has of it: a token is none, a tuple all of its members.
  int arrays() const;

  // As the text writes it; "<null>" for a null handle.
  std::string to_string() const;

 private:
  const TypeData* data_ = nullptr;
};

// !quant.uniform<storage<min:max>:expressed[:axis], scales:zero points>
struct QuantParameters {
  DType storage = DType::kInvalid;
  DType expressed = DType::kInvalid;
  std::int64_t storage_min = 0;
  std::int64_t storage_max = 0;
  int axis = -1;  // -1: one scale for the whole tensor
  std::span<const double> scales;
  std::span<const std::int64_t> zero_points;
};

struct TypeData {
  TypeKind kind = TypeKind::kOpaque;
  DType dtype = DType::kInvalid;           // of the element
  std::span<const std::int64_t> dims;      // kTensor, kMemRef
  std::span<const std::int64_t> bounds;    // kTensor
  Type element;                            // kTensor, kUnranked, kMemRef
  std::span<const Type> members;           // kTuple, kFuture, kFunction
  std::span<const Type> results;           // kFunction
  const QuantParameters* quant = nullptr;  // kQuant
  std::string_view text;  // kOpaque: the type; kTensor, kMemRef: a layout or encoding, kept as text
};

TypeKind Type::kind() const { return data_->kind; }
Type Type::element() const { return data_->element ? data_->element : *this; }
DType Type::dtype() const { return data_ == nullptr ? DType::kInvalid : data_->dtype; }
std::span<const std::int64_t> Type::dims() const { return data_->dims; }
std::span<const std::int64_t> Type::bounds() const { return data_->bounds; }
std::span<const Type> Type::members() const { return data_->members; }
std::span<const Type> Type::results() const { return data_->results; }
const QuantParameters* Type::quant() const { return data_->quant; }

// Appends each to the text, with ", " between them.
template <class Range, class Append>
void append_list(std::string& out, const Range& values, Append append) {
  bool first = true;
  for (const auto& value : values) {
    if (!first) out += ", ";
    first = false;
    append(value);
  }
}

// "2", or "?" for kDynamic.
void append_extent(std::string& out, std::int64_t extent);
// #stablehlo.bounds<?, 2>
void append_bounds(std::string& out, std::span<const std::int64_t> bounds);
// (T, U) -> V
void append_function(std::string& out, std::span<const Type> inputs, std::span<const Type> results);

// The shape of an array of this type in memory, of the storage where it is quantised; nullopt if
// dynamic, no tensor, or a token.
std::optional<Shape> memory_shape(Type type);

}  // namespace millrace::devices::stablehlo::ir
