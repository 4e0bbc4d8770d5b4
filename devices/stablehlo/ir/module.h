// Module: one StableHLO program: its attributes and functions, and the arena that holds all of its
// ops, values, types and attributes. Made by text/read_text.h, checked by verify/verify.h, printed
// by print.h. Traversal: for (ir::Function& f : module.functions()) for (ir::Op& op :
// f.body().block()) switch (op.kind()).
#pragma once

#include <deque>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "millrace/devices/stablehlo/ir/op.h"
#include "millrace/devices/stablehlo/ir/type_table.h"

namespace millrace::devices::stablehlo::ir {

// func.func: name, signature and body. The entry block's arguments are the parameters.
// Thread-safety: external.
class Function {
 public:
  std::string_view name() const { return name_; }
  std::string_view visibility() const {
    return visibility_;
  }  // as written: "" if nothing is, which means public
  Location location() const { return location_; }
  std::span<const Type> inputs() const { return inputs_; }
  std::span<const Type> results() const { return results_; }
  // Attributes of argument or result i, sorted by name: tf.aliasing_output, jax.buffer_donor,
  // mhlo.sharding, ...
  std::span<const NamedAttribute> arg_attributes(int i) const {
    return arg_attributes_[static_cast<std::size_t>(i)];
  }
  std::span<const NamedAttribute> result_attributes(int i) const {
    return result_attributes_[static_cast<std::size_t>(i)];
  }
  Attribute arg_attribute(int i, std::string_view name) const;  // null handle if absent
  std::span<const NamedAttribute> attributes() const { return attributes_; }
  Region& body() const { return *body_; }  // empty for a declaration
  bool is_declaration() const { return body_->empty(); }

 private:
  friend class Module;
  std::string_view name_;
  std::string_view visibility_;
  Location location_;
  std::span<const Type> inputs_;
  std::span<const Type> results_;
  std::span<const std::span<const NamedAttribute>> arg_attributes_;
  std::span<const std::span<const NamedAttribute>> result_attributes_;
  std::span<const NamedAttribute> attributes_;
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

struct FunctionParts {
  std::string_view name;
  std::string_view visibility;
  Location location;
  std::span<const Type> inputs;
  std::span<const Type> results;
  std::span<const std::span<const NamedAttribute>> arg_attributes;     // empty: none
  std::span<const std::span<const NamedAttribute>> result_attributes;  // empty: none
  std::span<const NamedAttribute> attributes;
};

// Movable; moving keeps every pointer into it valid. Destroying it frees everything at once, unless
// someone shares it, but for bytes of DenseAttr that someone shares. Thread-safety: external.
class Module {
 public:
  Module();
  // An empty module whose ops may have types and attributes of base, which it keeps alive and which
  // no longer changes. Several threads may make such modules of one base.
  static Module over(const Module& base);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  std::string_view name() const;  // "" if it has none
  void set_name(std::string_view name);
  std::span<const NamedAttribute> attributes() const;
  void set_attributes(std::span<const NamedAttribute> attributes);
  std::deque<Function>& functions();
  const std::deque<Function>& functions() const;
  const Function* find(std::string_view name) const;  // nullptr if there is none
  // Top-level operations that are no functions (sdy.mesh and its like), in order; ids as others.
  Block& top_level() const;

  int value_ids() const;
  int op_ids() const;

  // Making things. All spans and strings are copied into the arena.
  TypeTable& types() const;
  Op* create_op(const OpParts& parts);
  Block* create_block(std::span<const Type> argument_types);
  // The block has no arguments so far.
  void set_arguments(Block& block, std::span<const Type> types);
  void set_blocks(Region& region, std::span<Block* const> blocks);  // the first is the entry
  Function& create_function(const FunctionParts& parts);
  std::string_view intern(std::string_view text);  // equal texts give the same pointer
  template <class T>
  std::span<std::remove_const_t<T>> copy(std::span<T> values) const {
    if (values.empty()) return {};
    auto* p =
        static_cast<std::remove_const_t<T>*>(arena()->allocate(values.size_bytes(), alignof(T)));
    std::uninitialized_copy(values.begin(), values.end(), p);
    return {p, values.size()};
  }
  // A record of attribute.h; its spans must already be in the arena (copy, intern).
  template <class T>
  Attribute attribute(const T& record) const {
    return Attribute(new (arena()->allocate(sizeof(T), alignof(T))) T(record));
  }
  // Sorted by name, later duplicates winning, in the arena.
  std::span<const NamedAttribute> sorted(std::span<const NamedAttribute> attributes);
  Attribute dense(Type type, bool splat, std::shared_ptr<const std::byte[]> bytes,
                  std::size_t size);
  // Gives an attribute made by dense() the elements of another of the same type: resources come
  // late.
  void share_dense(Attribute dense, Attribute from);

  // Keeps every op, type and attribute alive as long as it is held.
  std::shared_ptr<const void> share() const { return impl_; }

 private:
  struct Impl;
  std::pmr::memory_resource* arena() const;
  // A record or a list of n of them in the arena, as their types begin.
  template <class T>
  std::span<T> make(std::size_t n = 1);
  // The results of an op or the arguments of a block.
  std::span<Value> values(std::span<const Type> types, Op* def, Block* block);

  std::shared_ptr<Impl> impl_;
};

}  // namespace millrace::devices::stablehlo::ir
