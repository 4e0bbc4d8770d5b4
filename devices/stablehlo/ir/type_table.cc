#include "millrace/devices/stablehlo/ir/type_table.h"

#include <algorithm>
#include <functional>
#include <new>

namespace millrace::devices::stablehlo::ir {
namespace {

void mix(std::size_t& hash, std::size_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 29;
}

bool same_quant(const QuantParameters* a, const QuantParameters* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->storage == b->storage && a->expressed == b->expressed &&
         a->storage_min == b->storage_min && a->storage_max == b->storage_max &&
         a->axis == b->axis && std::ranges::equal(a->scales, b->scales) &&
         std::ranges::equal(a->zero_points, b->zero_points);
}

template <class T>
std::span<const T> copy(std::pmr::memory_resource* arena, std::span<const T> values) {
  if (values.empty()) return {};
  T* p = static_cast<T*>(arena->allocate(values.size_bytes(), alignof(T)));
  std::uninitialized_copy(values.begin(), values.end(), p);
  return {p, values.size()};
}

std::string_view copy(std::pmr::memory_resource* arena, std::string_view text) {
  const auto chars = copy(arena, std::span<const char>(text));
  return {chars.data(), chars.size()};
}

}  // namespace

std::size_t TypeTable::Hash::operator()(const TypeData* t) const {
  std::size_t hash = static_cast<std::size_t>(t->kind) * 64 + static_cast<std::size_t>(t->dtype);
  for (std::int64_t dim : t->dims) mix(hash, static_cast<std::size_t>(dim));
  for (std::int64_t bound : t->bounds) mix(hash, static_cast<std::size_t>(bound) + 1);
  mix(hash, std::hash<const void*>()(t->element.data()));
  for (Type member : t->members) mix(hash, std::hash<const void*>()(member.data()));
  mix(hash, t->members.size());
  for (Type result : t->results) mix(hash, std::hash<const void*>()(result.data()));
  if (!t->text.empty()) mix(hash, std::hash<std::string_view>()(t->text));
  if (t->quant != nullptr)
    mix(hash, static_cast<std::size_t>(t->quant->storage) + t->quant->scales.size());
  return hash;
}

bool TypeTable::Same::operator()(const TypeData* a, const TypeData* b) const {
  return a->kind == b->kind && a->dtype == b->dtype && a->element == b->element &&
         a->text == b->text && std::ranges::equal(a->dims, b->dims) &&
         std::ranges::equal(a->bounds, b->bounds) && std::ranges::equal(a->members, b->members) &&
         std::ranges::equal(a->results, b->results) && same_quant(a->quant, b->quant);
}

const TypeData* TypeTable::known(const TypeData& data) const {
  if (base_ != nullptr) {
    if (const TypeData* found = base_->known(data)) return found;
  }
  const auto it = all_.find(&data);
  return it == all_.end() ? nullptr : *it;
}

Type TypeTable::intern(const TypeData& data) {
  if (const TypeData* found = known(data)) return Type(found);
  auto* made = new (arena_->allocate(sizeof(TypeData), alignof(TypeData))) TypeData(data);
  made->dims = copy(arena_, data.dims);
  made->bounds = copy(arena_, data.bounds);
  made->members = copy(arena_, data.members);
  made->results = copy(arena_, data.results);
  made->text = copy(arena_, data.text);
  if (data.quant != nullptr) {
    auto* q = new (arena_->allocate(sizeof(QuantParameters), alignof(QuantParameters)))
        QuantParameters(*data.quant);
    q->scales = copy(arena_, data.quant->scales);
    q->zero_points = copy(arena_, data.quant->zero_points);
    made->quant = q;
  }
  all_.insert(made);
  return Type(made);
}

Type TypeTable::scalar(DType dtype) {
  if (dtype == DType::kToken) return token();
  Type& known = scalars_[static_cast<std::size_t>(dtype)];
  if (!known) known = intern({.kind = TypeKind::kScalar, .dtype = dtype});
  return known;
}

Type TypeTable::index() { return intern({.kind = TypeKind::kIndex}); }
Type TypeTable::none() { return intern({.kind = TypeKind::kNone}); }
Type TypeTable::token() { return intern({.kind = TypeKind::kToken, .dtype = DType::kToken}); }

Type TypeTable::tensor(std::span<const std::int64_t> dims, Type element,
                       std::span<const std::int64_t> bounds, std::string_view encoding) {
  return intern({.kind = TypeKind::kTensor,
                 .dtype = element.dtype(),
                 .dims = dims,
                 .bounds = bounds,
                 .element = element,
                 .text = encoding});
}

Type TypeTable::unranked(Type element) {
  return intern({.kind = TypeKind::kUnranked, .dtype = element.dtype(), .element = element});
}

Type TypeTable::memref(std::span<const std::int64_t> dims, Type element, std::string_view layout) {
  return intern({.kind = TypeKind::kMemRef,
                 .dtype = element.dtype(),
                 .dims = dims,
                 .element = element,
                 .text = layout});
}

Type TypeTable::tuple(std::span<const Type> members) {
  return intern({.kind = TypeKind::kTuple, .members = members});
}

Type TypeTable::future(std::span<const Type> members) {
  return intern({.kind = TypeKind::kFuture, .members = members});
}

Type TypeTable::quant(const QuantParameters& parameters) {
  return intern({.kind = TypeKind::kQuant, .quant = &parameters});
}

Type TypeTable::function(std::span<const Type> inputs, std::span<const Type> results) {
  return intern({.kind = TypeKind::kFunction, .members = inputs, .results = results});
}

Type TypeTable::opaque(std::string_view text) {
  return intern({.kind = TypeKind::kOpaque, .text = text});
}

}  // namespace millrace::devices::stablehlo::ir
