// TypeTable: makes the types of one module, each once. Owned by the Module's context.
#pragma once

#include <memory_resource>
#include <unordered_set>

#include "millrace/devices/stablehlo/ir/type.h"

namespace millrace::devices::stablehlo::ir {

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
  Type index();
  Type none();
  Type token();
  Type tensor(std::span<const std::int64_t> dims, Type element,
              std::span<const std::int64_t> bounds = {}, std::string_view encoding = {});
  Type tensor(std::initializer_list<std::int64_t> dims, DType dtype) {
    return tensor(std::span<const std::int64_t>(dims.begin(), dims.size()), scalar(dtype));
  }
  Type tensor(const Shape& shape) { return tensor(shape.dims(), scalar(shape.dtype())); }
  Type unranked(Type element);
  Type memref(std::span<const std::int64_t> dims, Type element, std::string_view layout = {});
  Type tuple(std::span<const Type> members);
  Type future(std::span<const Type> members);
  Type quant(const QuantParameters& parameters);
  Type function(std::span<const Type> inputs, std::span<const Type> results);
  Type opaque(std::string_view text);

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
