#include "millrace/devices/cpu/ir/module.h"

#include <algorithm>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "millrace/core/check.h"

namespace millrace::devices::cpu::ir {
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
  // Of equal names the last one stays.
  auto* made = static_cast<NamedAttribute*>(
      arena()->allocate(list.size() * sizeof(NamedAttribute), alignof(NamedAttribute)));
  std::size_t size = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i + 1 < list.size() && list[i + 1].attribute.name == list[i].attribute.name) continue;
    new (made + size++) NamedAttribute{intern(list[i].attribute.name), list[i].attribute.value};
  }
  return {made, size};
}

Op* Module::create_op(const OpParts& parts) {
  Op* op = new (arena()->allocate(sizeof(Op), alignof(Op))) Op;
  op->kind_ = parts.kind;
  op->name_ = parts.kind == OpKind::kOther ? intern(parts.name) : to_string(parts.kind);
  op->location_ = parts.location;
  op->id_ = impl_->op_ids++;
  op->operands_ = copy(parts.operands);
  op->attributes_ = sorted(parts.attributes);
  op->successors_ = copy(parts.successors);
  if (!parts.result_types.empty()) {
    const std::size_t n = parts.result_types.size();
    auto* values = static_cast<Value*>(arena()->allocate(n * sizeof(Value), alignof(Value)));
    for (std::size_t i = 0; i < n; ++i) {
      Value* v = new (values + i) Value;
      v->type_ = parts.result_types[i];
      v->def_ = op;
      v->index_ = static_cast<int>(i);
      v->id_ = impl_->value_ids++;
    }
    op->results_ = {values, n};
  }
  if (parts.regions > 0) {
    const auto n = static_cast<std::size_t>(parts.regions);
    auto* regions = static_cast<Region*>(arena()->allocate(n * sizeof(Region), alignof(Region)));
    for (std::size_t i = 0; i < n; ++i) (new (regions + i) Region)->parent_ = op;
    op->regions_ = {regions, n};
  }
  return op;
}

Block* Module::create_block(std::span<const Type> argument_types) {
  Block* block = new (arena()->allocate(sizeof(Block), alignof(Block))) Block;
  set_arguments(*block, argument_types);
  return block;
}

void Module::set_arguments(Block& block, std::span<const Type> types) {
  MILLRACE_CHECK(block.arguments_.empty(), "a block gets its arguments once");
  if (types.empty()) return;
  const std::size_t n = types.size();
  auto* values = static_cast<Value*>(arena()->allocate(n * sizeof(Value), alignof(Value)));
  for (std::size_t i = 0; i < n; ++i) {
    Value* v = new (values + i) Value;
    v->type_ = types[i];
    v->block_ = &block;
    v->index_ = static_cast<int>(i);
    v->id_ = impl_->value_ids++;
  }
  block.arguments_ = {values, n};
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
  f.body_ = new (arena()->allocate(sizeof(Region), alignof(Region))) Region;
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

}  // namespace millrace::devices::cpu::ir
