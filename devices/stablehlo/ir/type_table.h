// TypeTable: makes the types of one module, each once. Owned by the Module's context.
#pragma once

#include <memory>
#include <memory_resource>
#include <ranges>
#include <span>
#include <unordered_set>

#include "millrace/devices/stablehlo/ir/type.h"

namespace millrace::devices::stablehlo::ir {

// A copy of the values in the arena.
template <std::ranges::contiguous_range R>
auto copied(std::pmr::memory_resource* arena, const R& values) {
  using T = std::ranges::range_value_t<R>;
  const std::size_t n = std::ranges::size(values);
  if (n == 0) return std::span<T>();
  T* const made = static_cast<T*>(arena->allocate(n * sizeof(T), alignof(T)));
  std::uninitialized_copy_n(std::ranges::data(values), n, made);
  return std::span<T>(made, n);
}

// Spans and strings given to it are copied into the arena if the type is new. Thread-safety:
// external.
class TypeTable {
 public:
  // base: a table whose types are those of this one too, as long as it stays as it is.
  explicit TypeTable(std::pmr::memory_resource* arena, const TypeTable* base = nullptr)
      : arena_(arena), base_(base) {}
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  Type scalar(DType dtype);  // kToken gives token()
  Type index() { return intern({.kind = TypeKind::kIndex}); }
  Type none() { return intern({.kind = TypeKind::kNone}); }
  Type token() { return intern({.kind = TypeKind::kToken, .dtype = DType::kToken}); }
  Type tensor(std::span<const std::int64_t> dims, Type element,
              std::span<const std::int64_t> bounds = {}, std::string_view encoding = {}) {
    return intern({.kind = TypeKind::kTensor,
                   .dtype = element.dtype(),
                   .dims = dims,
                   .bounds = bounds,
                   .element = element,
                   .text = encoding});
  }
  Type tensor(std::initializer_list<std::int64_t> dims, DType dtype) {
    return tensor(std::span<const std::int64_t>(dims.begin(), dims.size()), scalar(dtype));
  }
  Type tensor(const Shape& shape) { return tensor(shape.dims(), scalar(shape.dtype())); }
  Type unranked(Type element) {
    return intern({.kind = TypeKind::kUnranked, .dtype = element.dtype(), .element = element});
  }
  Type memref(std::span<const std::int64_t> dims, Type element, std::string_view layout = {}) {
    return intern({.kind = TypeKind::kMemRef,
                   .dtype = element.dtype(),
                   .dims = dims,
                   .element = element,
                   .text = layout});
  }
  Type tuple(std::span<const Type> members) {
    return intern({.kind = TypeKind::kTuple, .members = members});
  }
  Type future(std::span<const Type> members) {
    return intern({.kind = TypeKind::kFuture, .members = members});
  }
  Type quant(const QuantParameters& parameters) {
    return intern({.kind = TypeKind::kQuant, .quant = &parameters});
  }
  Type function(std::span<const Type> inputs, std::span<const Type> results) {
    return intern({.kind = TypeKind::kFunction, .members = inputs, .results = results});
  }
  Type opaque(std::string_view text) { return intern({.kind = TypeKind::kOpaque, .text = text}); }

 private:
  struct Hash {
    std::size_t operator()(const TypeData* data) const;
  };
  struct Same {
    bool operator()(const TypeData* a, const TypeData* b) const;
  };
  Type intern(const TypeData& data);
  const TypeData* known(const TypeData& data) const;

  std::pmr::memory_resource* arena_;
  const TypeTable* base_;
  std::unordered_set<const TypeData*, Hash, Same> all_;
  Type scalars_[64];
};

}  // namespace millrace::devices::stablehlo::ir
