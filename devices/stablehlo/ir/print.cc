#include "millrace/devices/stablehlo/ir/print.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millrace::devices::stablehlo::ir {
namespace {

// The name of a value in the text: %arg3, %7 or %7#1.
struct Name {
  bool argument = false;
  int number = 0;
  int part = -1;
};

// The text between the first quotes and the last of what stands in the column of readers, where it
// is a pattern of one piece.
constexpr std::string_view pattern_in(std::string_view reader) {
  if (!reader.starts_with("form<\"") || reader.contains("\" \"")) return {};
  return reader.substr(6, reader.rfind('"') - 6);
}

std::string_view pattern_of(OpKind kind) {
  switch (kind) {
#define MILLRACE_OP_READER(kind, reader) \
  case OpKind::kind:                     \
    return pattern_in(#reader);
#include "millrace/devices/stablehlo/ir/ops.inc"
    default:
      return {};
  }
}

class Printer {
 public:
  explicit Printer(Form form = Form::kShort) : form_(form) {}

  std::string take() { return std::move(out_); }

  void module(const Module& m) {
    out_ += "module";
    if (!m.name().empty()) append_symbol(out_ += ' ', m.name());
    if (!m.attributes().empty()) append_dict(out_ += " attributes ", m.attributes());
    out_ += " {\n";
    for (const Op& top : m.top_level()) op(top, 1);
    for (const Function& f : m.functions()) function(f);
    out_ += "}\n";
  }

  void op(const Op& o, int indent) {
    out_.append(static_cast<std::size_t>(indent) * 2, ' ');
    if (o.result_count() != 0) {
      out_ += '%' + std::to_string(next_result_);
      if (o.result_count() > 1) out_ += ':' + std::to_string(o.result_count());
      out_ += " = ";
      for (int i = 0; i < o.result_count(); ++i) {
        names_[o.result(i)] = {false, next_result_, o.result_count() > 1 ? i : -1};
      }
      ++next_result_;
    }
    if (!pretty(o)) generic(o, indent);
    out_ += '\n';
  }

 private:
  void value(const Value* v) {
    const auto it = names_.find(v);
    if (it == names_.end()) {
      out_ += "%outside" + std::to_string(v->id());
      return;
    }
    const Name& name = it->second;
    out_ += (name.argument ? "%arg" : "%") + std::to_string(name.number);
    if (name.part >= 0) out_ += '#' + std::to_string(name.part);
  }

  void operands(const Op& o) {
    append_list(out_, o.operands(), [this](const Value* v) { value(v); });
  }

  // " {attributes} : (T) -> U", as most forms end.
  void tail(const Op& o, std::span<const std::string_view> elided = {}) {
    const std::size_t before = out_.size();
    append_dict(out_ += ' ', o.attributes(), elided,
                o.name().starts_with("chlo.") ? "chlo" : kEnumDialect);
    if (out_.size() == before + 1) out_.pop_back();
    append_function(out_ += " : ", types_of(o.operands()), types_of(o.results()));
  }

  void generic(const Op& o, int indent) {
    append_quoted(out_, o.name());
    out_ += '(';
    operands(o);
    out_ += ')';
    for (std::size_t i = 0; i < o.successors().size(); ++i) {
      out_ += (i == 0 ? "[^" : ", ^") + label(o.successors()[i]);
    }
    if (!o.successors().empty()) out_ += ']';
    for (std::size_t i = 0; i < o.regions().size(); ++i) {
      out_ += i == 0 ? " ({\n" : ", {\n";
      blocks(o.regions()[i], indent + 1, true);
      out_.append(static_cast<std::size_t>(indent) * 2, ' ');
      out_ += '}';
    }
    if (!o.regions().empty()) out_ += ')';
    tail(o);
  }

  std::string label(const Block* block) {
    const auto [it, added] = labels_.emplace(block, static_cast<int>(labels_.size()));
    return "bb" + std::to_string(it->second);
  }

  void blocks(const Region& region, int indent, bool labelled_entry) {
    for (const Block* b : region.blocks()) {
      const bool entry = b == region.blocks().front();
      if (!entry || labelled_entry) {
        (out_.append(static_cast<std::size_t>(indent - 1) * 2, ' ') += '^') += label(b);
        for (int i = 0; i < b->argument_count(); ++i) {
          out_ += i == 0 ? "(" : ", ";
          argument(b->argument(i));
          (out_ += ": ") += b->argument(i)->type().to_string();
        }
        out_ += b->argument_count() != 0 ? "):\n" : ":\n";
      }
      for (const Op& o : *b) op(o, indent);
    }
  }

  void function(const Function& f) {
    names_.clear();
    labels_.clear();
    next_result_ = 0;
    next_argument_ = 0;
    out_ += "  func.func ";
    if (!f.visibility().empty()) (out_ += f.visibility()) += ' ';
    append_symbol(out_, f.name());
    arguments(f);
    results(f);
    if (!f.attributes().empty()) append_dict(out_ += " attributes ", f.attributes());
    if (!f.is_declaration()) {
      out_ += " {\n";
      blocks(f.body(), 2, false);
      out_ += "  }";
    }
    out_ += '\n';
  }

  void arguments(const Function& f) {
    out_ += '(';
    for (std::size_t i = 0; i < f.inputs().size(); ++i) {
      if (i != 0) out_ += ", ";
      if (!f.is_declaration()) {
        argument(f.body().block().argument(static_cast<int>(i)));
        out_ += ": ";
      }
      typed(f.inputs()[i], f.arg_attributes(static_cast<int>(i)));
    }
    out_ += ')';
  }

  void results(const Function& f) {
    if (f.results().empty()) return;
    out_ += " -> (";
    for (std::size_t i = 0; i < f.results().size(); ++i) {
      if (i != 0) out_ += ", ";
      typed(f.results()[i], f.result_attributes(static_cast<int>(i)));
    }
    out_ += ')';
  }

  // T {attributes}
  void typed(Type type, std::span<const NamedAttribute> attributes) {
    out_ += type.to_string();
    if (!attributes.empty()) append_dict(out_ += ' ', attributes);
  }

  // Gives an argument its name, and writes it.
  void argument(const Value* v) {
    names_[v] = {true, next_argument_++};
    value(v);
  }

  // The short form, where it says the same as the generic one.
  bool pretty(const Op& o) {
    if (form_ == Form::kGeneric || !o.regions().empty() || !o.successors().empty()) return false;
    switch (o.kind()) {
      case OpKind::kConstant:
        return constant(o);
      case OpKind::kReturn:
      case OpKind::kFuncReturn:
        return terminator(o);
      case OpKind::kCompare:
        return compare(o);
#define MILLRACE_OP_SAME_TYPE(kind, operands) \
  case OpKind::kind:                          \
    return o.operand_count() == operands && plain(o);
#include "millrace/devices/stablehlo/ir/ops.inc"
      default:
        return by_pattern(o, pattern_of(o.kind()));
    }
  }

  void name(const Op& o) { (out_ += o.name()) += ' '; }

  bool plain(const Op& o) {
    name(o);
    operands(o);
    tail(o);
    return true;
  }

  bool constant(const Op& o) {
    const auto* dense = o.attr<DenseAttr>("value");
    if (dense == nullptr || o.attributes().size() != 1 || o.operand_count() != 0 ||
        o.result_count() != 1 || dense->type != o.result()->type()) {
      return false;
    }
    name(o);
    append_attribute(out_, o.attr("value"));
    return true;
  }

  bool terminator(const Op& o) {
    if (!o.attributes().empty() || o.result_count() != 0) return false;
    // In the middle of a block, what follows could be read as its operands.
    if (o.operand_count() == 0 && o.next() != nullptr) return false;
    out_ += o.name();
    if (o.operand_count() == 0) return true;
    out_ += ' ';
    operands(o);
    out_ += " : ";
    append_list(out_, o.operands(), [this](const Value* v) { out_ += v->type().to_string(); });
    return true;
  }

  // What the pattern of its row says (text/pretty_forms.cc), if that says all with operands, marks,
  // integers and symbols, and ends with a signature.
  bool by_pattern(const Op& o, std::string_view pattern) {
    const std::size_t before = out_.size();
    std::vector<std::string_view> said;
    name(o);
    bool good = !pattern.empty();
    while (good && !pattern.empty()) {
      const std::size_t end = std::min(pattern.find(' '), pattern.size());
      good = word(o, pattern.substr(0, end), &said);
      pattern.remove_prefix(std::min(end + 1, pattern.size()));
    }
    if (good) {
      tail(o, said);
    } else {
      out_.resize(before);
    }
    return good;
  }

  bool word(const Op& o, std::string_view word, std::vector<std::string_view>* said) {
    constexpr std::string_view kOpen = "([", kClose = ")],";
    const bool after_open = kOpen.contains(out_.back());
    if (!after_open && out_.back() != ' ' && !kOpen.contains(word[0]) && !kClose.contains(word[0]))
      out_ += ' ';
    const bool operand = word == "%";
    if (operand || word == "*" || word == "*,") {
      operands(o);
      if (word == "*,") out_ += ',';
      return operand ? o.operand_count() == 1 : o.operand_count() > 0 || after_open;
    }
    const std::size_t colon = word.find(':');
    if (colon == word.npos) {
      out_ += word;
      return word[0] != '*';
    }
    const std::string_view attribute = word.substr(0, colon), value = word.substr(colon + 1);
    said->push_back(attribute);
    if (value == "ints") {
      const auto* ints = o.attr<IntArrayAttr>(attribute);
      if (ints == nullptr || ints->element != DType::kI64) return false;
      append_ints(out_, ints->values);
    } else if (value == "int" || value == "i32") {
      const auto* integer = o.attr<IntegerAttr>(attribute);
      const DType type = value == "int" ? DType::kI64 : DType::kI32;
      if (integer == nullptr || integer->type.kind() != TypeKind::kScalar ||
          integer->type.dtype() != type)
        return false;
      out_ += std::to_string(integer->value);
    } else if (value == "symbol") {
      const auto* symbol = o.attr<SymbolAttr>(attribute);
      if (symbol == nullptr || symbol->path.size() != 1) return false;
      append_symbol(out_, symbol->path[0]);
    } else {
      return false;
    }
    return true;
  }

  bool compare(const Op& o) {
    const auto* direction = o.attr<EnumAttr>("comparison_direction");
    const auto* type = o.attr<EnumAttr>("compare_type");
    if (direction == nullptr || direction->enum_class != EnumClass::kComparisonDirection ||
        o.operand_count() == 0)
      return false;
    if (o.attr("compare_type") &&
        (type == nullptr || type->enum_class != EnumClass::kComparisonType))
      return false;
    name(o);
    (out_ += enum_value_name(direction->enum_class, direction->value)) += ", ";
    operands(o);
    if (type != nullptr) (out_ += ", ") += enum_value_name(type->enum_class, type->value);
    tail(o, std::array<std::string_view, 2>{"comparison_direction", "compare_type"});
    return true;
  }

  const Form form_;
  std::string out_;
  std::unordered_map<const Value*, Name> names_;
  std::unordered_map<const Block*, int> labels_;
  int next_result_ = 0;
  int next_argument_ = 0;
};

}  // namespace

std::string print(const Module& module, Form form) {
  Printer printer(form);
  printer.module(module);
  return printer.take();
}

std::string print(Attribute attribute) {
  std::string out;
  append_attribute(out, attribute);
  return out;
}

std::string print(const Op& op) {
  Printer printer;
  printer.op(op, 0);
  std::string text = printer.take();
  text.pop_back();
  return text;
}

}  // namespace millrace::devices::stablehlo::ir
