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
  made->dims = copied(arena_, data.dims);
  made->bounds = copied(arena_, data.bounds);
  made->members = copied(arena_, data.members);
  made->results = copied(arena_, data.results);
  made->text = std::string_view(copied(arena_, data.text));
  if (data.quant != nullptr) {
    auto* q = new (arena_->allocate(sizeof(QuantParameters), alignof(QuantParameters)))
        QuantParameters(*data.quant);
    q->scales = copied(arena_, data.quant->scales);
    q->zero_points = copied(arena_, data.quant->zero_points);
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

}  // namespace millrace::devices::stablehlo::ir
