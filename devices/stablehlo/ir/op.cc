#include "millrace/devices/stablehlo/ir/op.h"

#include "millrace/core/base/check.h"

namespace millrace::devices::stablehlo::ir {

std::string to_string(Location at) {
  if (at.line == 0 && at.column != 0) return "byte " + std::to_string(at.column);
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::int64_t Op::int_or(std::string_view name, std::int64_t otherwise) const {
  const auto* i = attr<IntegerAttr>(name);
  return i != nullptr ? i->value : otherwise;
}

bool Op::bool_or(std::string_view name, bool otherwise) const {
  const Attribute a = attr(name);
  if (const auto* b = a.as<BoolAttr>()) return b->value;
  return a.as<UnitAttr>() != nullptr || otherwise;
}

std::string_view Op::string_or(std::string_view name, std::string_view otherwise) const {
  const auto* s = attr<StringAttr>(name);
  return s != nullptr ? s->value : otherwise;
}

std::string_view Op::callee() const {
  const std::string_view name = kind_ == OpKind::kComposite    ? "decomposition"
                                : kind_ == OpKind::kCustomCall ? "call_target_name"
                                                               : "callee";
  const Attribute a = attr(name);
  if (const auto* symbol = a.as<SymbolAttr>()) return symbol->path.front();
  const auto* text = a.as<StringAttr>();
  return text != nullptr ? text->value : std::string_view();
}

void Block::insert(Op* before, Op* op) {
  MILLRACE_CHECK(op->parent_ == nullptr, "an op is in one block at most");
  MILLRACE_CHECK(before == nullptr || before->parent_ == this, "insert before an op of this block");
  op->parent_ = this;
  op->next_ = before;
  op->previous_ = before != nullptr ? before->previous_ : last_;
  (op->previous_ != nullptr ? op->previous_->next_ : first_) = op;
  (before != nullptr ? before->previous_ : last_) = op;
}

void Block::remove(Op* op) {
  MILLRACE_CHECK(op->parent_ == this, "an op is removed from its own block");
  (op->previous_ != nullptr ? op->previous_->next_ : first_) = op->next_;
  (op->next_ != nullptr ? op->next_->previous_ : last_) = op->previous_;
  op->parent_ = nullptr;
  op->next_ = nullptr;
  op->previous_ = nullptr;
}

}  // namespace millrace::devices::stablehlo::ir
