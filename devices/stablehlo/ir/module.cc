#include "millrace/devices/stablehlo/ir/module.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "millrace/core/base/check.h"

namespace millrace::devices::stablehlo::ir {

std::string_view Module::intern(std::string_view text) {
  if (text.empty()) return {};
  if (auto it = impl_->strings.find(text); it != impl_->strings.end()) return *it;
  const std::string_view made(copy(text));
  impl_->strings.insert(made);
  return made;
}

std::span<const NamedAttribute> Module::sorted(std::span<const NamedAttribute> attributes) {
  const std::span<NamedAttribute> list = copy(attributes);
  for (NamedAttribute& a : list) a.name = intern(a.name);
  const auto unsorted =
      std::ranges::adjacent_find(list, std::ranges::greater_equal(), &NamedAttribute::name);
  if (unsorted == list.end()) return list;
  // The last one of equal names stays: it becomes the first.
  std::ranges::reverse(list);
  std::ranges::stable_sort(list, {}, &NamedAttribute::name);
  const auto rest = std::ranges::unique(list, {}, &NamedAttribute::name);
  return list.first(list.size() - rest.size());
}

template <class T>
std::span<T> Module::make(std::size_t n) {
  T* const first = static_cast<T*>(arena()->allocate(n * sizeof(T), alignof(T)));
  std::uninitialized_value_construct_n(first, n);
  return {first, n};
}

std::span<Value> Module::values(std::span<const Type> types, Op* def, Block* block) {
  if (types.empty()) return {};
  const std::span<Value> made = make<Value>(types.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i].type_ = types[i];
    made[i].def_ = def;
    made[i].block_ = block;
    made[i].index_ = static_cast<int>(i);
    made[i].id_ = impl_->value_ids++;
  }
  return made;
}

Op* Module::create_op(const OpParts& parts) {
  Op* op = make<Op>().data();
  op->kind_ = parts.kind;
  op->name_ = parts.kind == OpKind::kOther ? intern(parts.name) : to_string(parts.kind);
  op->location_ = parts.location;
  op->id_ = impl_->op_ids++;
  op->operands_ = copy(parts.operands);
  op->attributes_ = sorted(parts.attributes);
  op->successors_ = copy(parts.successors);
  op->results_ = values(parts.result_types, op, nullptr);
  if (parts.regions > 0) op->regions_ = make<Region>(static_cast<std::size_t>(parts.regions));
  for (Region& region : op->regions_) region.parent_ = op;
  return op;
}

Block* Module::create_block(std::span<const Type> argument_types) {
  Block* block = make<Block>().data();
  set_arguments(*block, argument_types);
  return block;
}

void Module::set_arguments(Block& block, std::span<const Type> types) {
  MILLRACE_CHECK(block.arguments_.empty(), "a block gets its arguments once");
  block.arguments_ = values(types, nullptr, &block);
}

void Module::set_blocks(Region& region, std::span<Block* const> blocks) {
  region.blocks_ = copy(blocks);
  for (Block* block : blocks) block->parent_ = &region;
}

Function& Module::create_function(const FunctionParts& parts) {
  Function& f = impl_->functions.emplace_back();
  const auto lists = [this](std::size_t n, std::span<const std::span<const NamedAttribute>> given) {
    std::vector<std::span<const NamedAttribute>> out(n);
    for (std::size_t i = 0; i < std::min(n, given.size()); ++i) out[i] = sorted(given[i]);
    return copy(out);
  };
  f.parts_ = {.name = intern(parts.name),
              .visibility = intern(parts.visibility),
              .location = parts.location,
              .inputs = copy(parts.inputs),
              .results = copy(parts.results),
              .arg_attributes = lists(parts.inputs.size(), parts.arg_attributes),
              .result_attributes = lists(parts.results.size(), parts.result_attributes),
              .attributes = sorted(parts.attributes)};
  f.body_ = make<Region>().data();
  impl_->by_name.emplace(f.name(), &f);
  return f;
}

Attribute Module::dense(Type type, bool splat, std::shared_ptr<const std::byte[]> bytes,
                        std::size_t size) {
  const auto& owner = impl_->blobs.emplace_back(std::move(bytes));
  DenseAttr dense;
  dense.type = type;
  dense.splat = splat;
  dense.bytes = {owner.get(), size};
  dense.owner = &owner;
  return attribute(dense);
}

Attribute Module::dense(Type type, bool splat, std::span<const std::byte> copied) {
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(copied.size(), 1));
  std::ranges::copy(copied, bytes.get());
  return dense(type, splat, std::move(bytes), copied.size());
}

void Module::share_dense(Attribute dense, Attribute from) {
  const auto* given = from.as<DenseAttr>();
  MILLRACE_CHECK(given != nullptr && dense.as<DenseAttr>() != nullptr, "both are dense attributes");
  // Every record in the arena was made non-const, by attribute().
  auto* target = const_cast<DenseAttr*>(dense.as<DenseAttr>());
  target->splat = given->splat;
  target->bytes = given->bytes;
  target->owner = given->owner;
}

}  // namespace millrace::devices::stablehlo::ir
