#include "millrace/devices/stablehlo/ir/module.h"

#include <algorithm>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "millrace/core/base/check.h"

namespace millrace::devices::stablehlo::ir {
namespace {

constexpr std::size_t kFirstBytes = 16 * 1024;

// An attribute and its place in the list it came from.
struct Placed {
  NamedAttribute attribute;
  std::size_t place;
};

}  // namespace

struct Module::Impl {
  explicit Impl(std::shared_ptr<const Impl> over = nullptr)
      : base(std::move(over)), types(&arena, base != nullptr ? &base->types : nullptr) {}

  const std::shared_ptr<const Impl> base;
  std::pmr::monotonic_buffer_resource arena{kFirstBytes};
  TypeTable types;
  std::unordered_set<std::string_view> strings;
  std::string_view name;
  std::span<const NamedAttribute> attributes;
  std::deque<Function> functions;
  std::unordered_map<std::string_view, const Function*> by_name;
  std::deque<std::shared_ptr<const std::byte[]>> blobs;
  Block top_level;
  std::vector<Placed> scratch;
  int value_ids = 0;
  int op_ids = 0;
};

Module::Module() : impl_(std::make_shared<Impl>()) {}
Module Module::over(const Module& base) {
  Module made;
  made.impl_ = std::make_shared<Impl>(base.impl_);
  return made;
}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

std::string_view Module::name() const { return impl_->name; }
void Module::set_name(std::string_view name) { impl_->name = intern(name); }
std::span<const NamedAttribute> Module::attributes() const { return impl_->attributes; }
void Module::set_attributes(std::span<const NamedAttribute> attributes) {
  impl_->attributes = sorted(attributes);
}
std::deque<Function>& Module::functions() { return impl_->functions; }
const std::deque<Function>& Module::functions() const { return impl_->functions; }
Block& Module::top_level() const { return impl_->top_level; }
int Module::value_ids() const { return impl_->value_ids; }
int Module::op_ids() const { return impl_->op_ids; }
TypeTable& Module::types() const { return impl_->types; }
std::pmr::memory_resource* Module::arena() const { return &impl_->arena; }

const Function* Module::find(std::string_view name) const {
  const auto it = impl_->by_name.find(name);
  return it == impl_->by_name.end() ? nullptr : it->second;
}

std::string_view Module::intern(std::string_view text) {
  if (text.empty()) return {};
  if (auto it = impl_->strings.find(text); it != impl_->strings.end()) return *it;
  const auto chars = copy(std::span<const char>(text));
  const std::string_view made(chars.data(), chars.size());
  impl_->strings.insert(made);
  return made;
}

std::span<const NamedAttribute> Module::sorted(std::span<const NamedAttribute> attributes) {
  if (attributes.empty()) return {};
  auto& list = impl_->scratch;
  list.clear();
  for (const NamedAttribute& a : attributes) list.push_back({a, list.size()});
  std::ranges::sort(list, [](const Placed& x, const Placed& y) {
    const int order = x.attribute.name.compare(y.attribute.name);
    return order != 0 ? order < 0 : x.place < y.place;
  });
  // The last one of equal names stays.
  auto* made = static_cast<NamedAttribute*>(
      arena()->allocate(list.size() * sizeof(NamedAttribute), alignof(NamedAttribute)));
  std::size_t size = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i + 1 < list.size() && list[i + 1].attribute.name == list[i].attribute.name) continue;
    new (made + size++) NamedAttribute{intern(list[i].attribute.name), list[i].attribute.value};
  }
  return {made, size};
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
  f.name_ = intern(parts.name);
  f.visibility_ = intern(parts.visibility);
  f.location_ = parts.location;
  f.inputs_ = copy(parts.inputs);
  f.results_ = copy(parts.results);
  const auto lists = [this](std::size_t n, std::span<const std::span<const NamedAttribute>> given) {
    std::vector<std::span<const NamedAttribute>> out(n);
    for (std::size_t i = 0; i < std::min(n, given.size()); ++i) out[i] = sorted(given[i]);
    return copy(std::span<const std::span<const NamedAttribute>>(out));
  };
  f.arg_attributes_ = lists(parts.inputs.size(), parts.arg_attributes);
  f.result_attributes_ = lists(parts.results.size(), parts.result_attributes);
  f.attributes_ = sorted(parts.attributes);
  f.body_ = make<Region>().data();
  impl_->by_name.emplace(f.name_, &f);
  return f;
}

Attribute Function::arg_attribute(int i, std::string_view name) const {
  return ir::find(arg_attributes(i), name);
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
