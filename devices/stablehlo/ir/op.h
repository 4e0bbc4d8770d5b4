// Op, Value, Block, Region: the SSA form of a program. Everything lives in the Module's arena;
// pointers stay valid as long as the module. Every value and every op has a dense id, so side
// tables of passes are vectors. Read next: module.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/ir/attribute.h"
#include "millrace/devices/stablehlo/ir/op_kind.h"
#include "millrace/devices/stablehlo/ir/type.h"

namespace millrace::devices::stablehlo::ir {

class Block;
class Op;
class Region;

// A place in the program's text, both from 1; 0:N for byte N of bytecode; 0:0 for what neither
// made.
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// "12:5" or "byte 77".
std::string to_string(Location location);

// What an op computes or a block receives. Owned by its op or block. Thread-safety: external.
class Value {
 public:
  Type type() const { return type_; }
  Op* def() const { return def_; }         // nullptr for a block argument
  Block* block() const { return block_; }  // the block of an argument; nullptr for a result
  int index() const { return index_; }     // among the results or arguments
  int id() const { return id_; }           // 0 <= id < module.value_ids()
  void set_type(Type type) { type_ = type; }

 private:
  friend class Module;
  Type type_;
  Op* def_ = nullptr;
  Block* block_ = nullptr;
  int index_ = 0;
  int id_ = 0;
};

// The types of values or of pointers to them.
std::vector<Type> types_of(const auto& values) {
  std::vector<Type> types(values.size());
  std::ranges::transform(values, types.begin(), &Value::type);
  return types;
}

// One operation: kind, operands, results, attributes (inherent and discardable together, sorted by
// name), regions. Owned by the module, linked into at most one block. Thread-safety: external.
class Op {
 public:
  OpKind kind() const { return kind_; }
  std::string_view name() const { return name_; }  // "stablehlo.add"
  Location location() const { return location_; }
  int id() const { return id_; }  // 0 <= id < module.op_ids()
  Block* parent() const { return parent_; }
  Op* next() const { return next_; }
  Op* previous() const { return previous_; }

  std::span<Value* const> operands() const { return operands_; }
  Value* operand(int i) const { return operands_[static_cast<std::size_t>(i)]; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  void set_operand(int i, Value* value) { operands_[static_cast<std::size_t>(i)] = value; }
  std::span<Value> results() const { return results_; }
  Value* result(int i = 0) const { return &results_[static_cast<std::size_t>(i)]; }
  int result_count() const { return static_cast<int>(results_.size()); }
  std::span<Region> regions() const { return regions_; }
  inline Region& region(int i = 0) const;
  std::span<Block* const> successors() const { return successors_; }

  std::span<const NamedAttribute> attributes() const { return attributes_; }
  void set_attributes(std::span<const NamedAttribute> sorted) { attributes_ = sorted; }
  // A null handle if absent.
  Attribute attr(std::string_view name) const { return find(attributes_, name); }
  template <class T>
  const T* attr(std::string_view name) const {
    return attr(name).as<T>();
  }
  std::int64_t int_or(std::string_view name, std::int64_t otherwise) const;
  bool bool_or(std::string_view name, bool otherwise) const;  // a unit attribute counts as true
  std::string_view string_or(std::string_view name, std::string_view otherwise) const;
  // See to_ints; nullopt if absent or not integers.
  std::optional<std::vector<std::int64_t>> ints(std::string_view name) const {
    return to_ints(attr(name));
  }
  template <class E>
  E enum_or(std::string_view name, E otherwise) const {
    const auto* e = attr<EnumAttr>(name);
    return e != nullptr && e->enum_class == class_of(E{}) ? static_cast<E>(e->value) : otherwise;
  }
  // The name of the function that call, composite or custom_call refers to; "" if none.
  std::string_view callee() const;

  // "12:5: stablehlo.add" or "byte 77: stablehlo.add", the start of every message about this op.
  std::string where() const { return to_string(location_) + ": " + std::string(name_); }

 private:
  friend class Module;
  friend class Block;
  OpKind kind_ = OpKind::kOther;
  Location location_;
  int id_ = 0;
  Block* parent_ = nullptr;
  Op* next_ = nullptr;
  Op* previous_ = nullptr;
  std::string_view name_;
  std::span<Value*> operands_;
  std::span<Value> results_;
  std::span<const NamedAttribute> attributes_;
  std::span<Region> regions_;
  std::span<Block*> successors_;
};

// Walks a linked list of ops; *it is an Op&. Erasing the current op ends the walk's validity.
class OpIterator {
 public:
  using value_type = Op;
  using difference_type = std::ptrdiff_t;
  explicit OpIterator(Op* op = nullptr) : op_(op) {}
  Op& operator*() const { return *op_; }
  OpIterator& operator++() {
    op_ = op_->next();
    return *this;
  }
  OpIterator operator++(int) {
    OpIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const OpIterator&) const = default;

 private:
  Op* op_;
};

// Arguments and a list of ops, the last of which is the terminator. Thread-safety: external.
class Block {
 public:
  std::span<Value> arguments() const { return arguments_; }
  Value* argument(int i) const { return &arguments_[static_cast<std::size_t>(i)]; }
  int argument_count() const { return static_cast<int>(arguments_.size()); }
  Region* parent() const { return parent_; }
  OpIterator begin() const { return OpIterator(first_); }
  OpIterator end() const { return OpIterator(); }
  bool empty() const { return first_ == nullptr; }
  Op* front() const { return first_; }
  Op* terminator() const { return last_; }  // nullptr for an empty block

  void append(Op* op) { insert(nullptr, op); }
  // Before `before`, or at the end if that is nullptr. CHECKs that op is in no block.
  void insert(Op* before, Op* op);
  // Takes op out of this block; its values stay valid.
  void remove(Op* op);

 private:
  friend class Module;
  std::span<Value> arguments_;
  Region* parent_ = nullptr;
  Op* first_ = nullptr;
  Op* last_ = nullptr;
};

// The body of an op or a function: StableHLO's have one block, a declaration's has none.
class Region {
 public:
  std::span<Block* const> blocks() const { return blocks_; }
  bool empty() const { return blocks_.empty(); }
  Block& block() const { return *blocks_.front(); }  // the entry
  Op* parent() const { return parent_; }             // nullptr for a function's body

 private:
  friend class Module;
  std::span<Block*> blocks_;
  Op* parent_ = nullptr;
};

Region& Op::region(int i) const { return regions_[static_cast<std::size_t>(i)]; }

}  // namespace millrace::devices::stablehlo::ir
