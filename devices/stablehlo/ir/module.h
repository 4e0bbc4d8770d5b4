// Module: one StableHLO program: its attributes and functions, and the arena that holds all of its
// ops, values, types and attributes. Made by text/read_text.h, checked by verify/verify.h, printed
// by print.h. Traversal: for (ir::Function& f : module.functions()) for (ir::Op& op :
// f.body().block()) switch (op.kind()).
#pragma once

#include <deque>
#include <memory>
#include <memory_resource>
#include <ranges>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "millrace/devices/stablehlo/ir/op.h"
#include "millrace/devices/stablehlo/ir/type_table.h"

namespace millrace::devices::stablehlo::ir {

// What create_function needs; spans are copied. A function has the same in the arena.
struct FunctionParts {
  std::string_view name;
  std::string_view visibility;  // as written: "" if nothing is, which means public
  Location location;
  std::span<const Type> inputs;
  std::span<const Type> results;
  // One list for each argument or result; empty: none has attributes.
  std::span<const std::span<const NamedAttribute>> arg_attributes;
  std::span<const std::span<const NamedAttribute>> result_attributes;
  std::span<const NamedAttribute> attributes;
};

// func.func: name, signature and body. The entry block's arguments are the parameters.
// Thread-safety: external.
class Function {
 public:
  std::string_view name() const { return parts_.name; }
  std::string_view visibility() const { return parts_.visibility; }
  Location location() const { return parts_.location; }
  std::span<const Type> inputs() const { return parts_.inputs; }
  std::span<const Type> results() const { return parts_.results; }
  // Attributes of argument or result i, sorted by name: tf.aliasing_output, jax.buffer_donor,
  // mhlo.sharding, ...
  std::span<const NamedAttribute> arg_attributes(int i) const {
    return parts_.arg_attributes[static_cast<std::size_t>(i)];
  }
  std::span<const NamedAttribute> result_attributes(int i) const {
    return parts_.result_attributes[static_cast<std::size_t>(i)];
  }
  Attribute arg_attribute(int i, std::string_view name) const {  // null handle if absent
    return find(arg_attributes(i), name);
  }
  std::span<const NamedAttribute> attributes() const { return parts_.attributes; }
  Region& body() const { return *body_; }  // empty for a declaration
  bool is_declaration() const { return body_->empty(); }

 private:
  friend class Module;
  FunctionParts parts_;
  Region* body_ = nullptr;
};

// What create_op needs; spans are copied.
struct OpParts {
  OpKind kind = OpKind::kOther;
  std::string_view name;  // needed for kOther only
  Location location;
  std::span<Value* const> operands;
  std::span<const Type> result_types;
  std::span<const NamedAttribute> attributes;  // any order; a later duplicate of a name wins
  int regions = 0;
  std::span<Block* const> successors;
};

// Movable; moving keeps every pointer into it valid. Destroying it frees everything at once, unless
// it is shared, but for bytes of DenseAttr that are shared. Thread-safety: external.
class Module {
 public:
  Module() : impl_(std::make_shared<Impl>()) {}
  // An empty module whose ops may have types and attributes of base, which it keeps alive and which
  // no longer changes. Several threads may make such modules of one base.
  static Module over(const Module& base) {
    Module made;
    made.impl_ = std::make_shared<Impl>(base.impl_);
    return made;
  }
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;

  std::string_view name() const { return impl_->name; }  // "" if it has none
  void set_name(std::string_view name) { impl_->name = intern(name); }
  std::span<const NamedAttribute> attributes() const { return impl_->attributes; }
  void set_attributes(std::span<const NamedAttribute> attributes) {
    impl_->attributes = sorted(attributes);
  }
  std::deque<Function>& functions() { return impl_->functions; }
  const std::deque<Function>& functions() const { return impl_->functions; }
  const Function* find(std::string_view name) const {  // nullptr if there is none
    const auto it = impl_->by_name.find(name);
    return it == impl_->by_name.end() ? nullptr : it->second;
  }
  // Top-level operations that are no functions (sdy.mesh and its like), in order; ids as others.
  Block& top_level() const { return impl_->top_level; }

  int value_ids() const { return impl_->value_ids; }
  int op_ids() const { return impl_->op_ids; }

  // Making things. All spans and strings are copied into the arena.
  TypeTable& types() const { return impl_->types; }
  Op* create_op(const OpParts& parts);
  Block* create_block(std::span<const Type> argument_types);
  // The block has no arguments so far.
  void set_arguments(Block& block, std::span<const Type> types);
  void set_blocks(Region& region, std::span<Block* const> blocks);  // the first is the entry
  Function& create_function(const FunctionParts& parts);
  std::string_view intern(std::string_view text);  // equal texts give the same pointer
  template <std::ranges::contiguous_range R>
  auto copy(const R& values) const {
    return copied(arena(), values);
  }
  // A record of attribute.h; its spans must already be in the arena (copy, intern).
  template <class T>
  Attribute attribute(const T& record) const {
    return Attribute(new (arena()->allocate(sizeof(T), alignof(T))) T(record));
  }
  Attribute integer(std::int64_t value, DType type = DType::kI64) const {
    return attribute(IntegerAttr{{}, value, types().scalar(type)});
  }
  Attribute integers(Ints values, DType element = DType::kI64) const {
    return attribute(IntArrayAttr{{}, element, copy(values)});
  }
  Attribute array(std::span<const Attribute> values) const {
    return attribute(ArrayAttr{{}, copy(values)});
  }
  Attribute string(std::string_view text) { return attribute(StringAttr{{}, intern(text)}); }
  Attribute symbol(std::string_view name) {  // @name
    const std::string_view path[] = {intern(name)};
    return attribute(SymbolAttr{{}, copy(path)});
  }
  // Sorted by name, later duplicates winning, in the arena.
  std::span<const NamedAttribute> sorted(std::span<const NamedAttribute> attributes);
  Attribute dense(Type type, bool splat, std::shared_ptr<const std::byte[]> bytes,
                  std::size_t size);
  Attribute dense(Type type, bool splat, std::span<const std::byte> copied);
  // Gives an attribute made by dense() the elements of another of the same type: resources come
  // late.
  void share_dense(Attribute dense, Attribute from);

  // Keeps every op, type and attribute alive as long as it is held.
  std::shared_ptr<const void> share() const { return impl_; }

 private:
  struct Impl {
    explicit Impl(std::shared_ptr<const Impl> over = nullptr)
        : base(std::move(over)), types(&arena, base != nullptr ? &base->types : nullptr) {}

    const std::shared_ptr<const Impl> base;
    std::pmr::monotonic_buffer_resource arena{std::size_t{16} * 1024};
    TypeTable types;
    std::unordered_set<std::string_view> strings;
    std::string_view name;
    std::span<const NamedAttribute> attributes;
    std::deque<Function> functions;
    std::unordered_map<std::string_view, const Function*> by_name;
    std::deque<std::shared_ptr<const std::byte[]>> blobs;
    Block top_level;
    int value_ids = 0;
    int op_ids = 0;
  };
  std::pmr::memory_resource* arena() const { return &impl_->arena; }
  // A record or a list of n of them in the arena, as their types begin.
  template <class T>
  std::span<T> make(std::size_t n = 1);
  // The results of an op or the arguments of a block.
  std::span<Value> values(std::span<const Type> types, Op* def, Block* block);

  std::shared_ptr<Impl> impl_;
};

}  // namespace millrace::devices::stablehlo::ir
