// chlo.scan as a while that counts, with the outputs and the carried values; plan/lower.cc makes
// the same of it.
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "millrace/devices/cpu/bytecode/chlo_expansion.h"
#include "millrace/devices/cpu/bytecode/chlo_lines.h"
#include "millrace/devices/cpu/ir/scan.h"

namespace millrace::devices::cpu::bytecode {
namespace {

constexpr std::string_view kIndex = "tensor<i32>";

// Adds what the block, and all inside of it, reads of its surroundings.
void add_outer(const ir::Block& block, std::unordered_set<const ir::Value*>& known,
               std::vector<const ir::Value*>& outer) {
  for (const ir::Value& argument : block.arguments()) known.insert(&argument);
  for (const ir::Op& op : block) {
    for (const ir::Value* v : op.operands()) {
      if (known.insert(v).second) outer.push_back(v);
    }
    for (const ir::Region& region : op.regions()) {
      for (const ir::Block* inner : region.blocks()) add_outer(*inner, known, outer);
    }
    for (const ir::Value& v : op.results()) known.insert(&v);
  }
}

bool is_plain(ir::Type type) {
  return type.is_tensor() && type.has_static_shape() && type.element().quant() == nullptr;
}

std::string zeros(ir::Type type) {
  const DType dtype = type.dtype();
  const char* const zero = dtype == DType::kI1  ? "false"
                           : is_complex(dtype)  ? "(0.0, 0.0)"
                           : is_floating(dtype) ? "0.0"
                                                : "0";
  return "stablehlo.constant dense<" + std::string(zero) + "> : " + type.to_string();
}

void append(std::string& text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) text += word;
}

// "a, b, c"
class List {
 public:
  void add(std::string_view word) {
    if (!text_.empty()) text_ += ", ";
    text_ += word;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Lines by hand: names are what they stand for.
struct ScanText {
  const ir::Op& op;
  const ir::ScanParts parts;
  const std::string body;  // the function's name
  const std::span<const ir::Value* const> outer;

  // The type of one place of an array, with that dimension of one element.
  std::string thin(ir::Type type) const {
    std::vector<std::int64_t> dims(type.dims().begin(), type.dims().end());
    dims[static_cast<std::size_t>(parts.dimension)] = 1;
    return tensor(dims, type.element().to_string());
  }
  // Where the place begins, and the types of those operands.
  std::string starts(ir::Type type) const {
    List list;
    for (int d = 0; d < type.rank(); ++d) list.add(d == parts.dimension ? "%at" : "%zero");
    return list.text();
  }
  static std::string index_types(ir::Type type) {
    std::string text;
    for (int d = 0; d < type.rank(); ++d) text += ", " + std::string(kIndex);
    return text;
  }
  ir::Type argument(int i) const { return op.region().block().argument(i)->type(); }
  ir::Type given(int i) const { return op.region().block().terminator()->operand(i)->type(); }

  std::string head() const {
    List arguments, types, carried, results;
    for (int i = 0; i < op.operand_count(); ++i)
      arguments.add("%a" + std::to_string(i) + ": " + op.operand(i)->type().to_string());
    for (std::size_t i = 0; i < outer.size(); ++i)
      arguments.add("%x" + std::to_string(i) + ": " + outer[i]->type().to_string());
    carried.add("%i = %zero");
    types.add(kIndex);
    std::string text;
    for (int i = 0; i < op.result_count(); ++i) {
      const std::string n = std::to_string(i);
      const bool output = i < parts.outputs;
      if (output) text += "  %o" + n + " = " + zeros(op.result(i)->type()) + "\n";
      carried.add("%c" + n + " = " +
                  (output ? "%o" + n : "%a" + std::to_string(i - parts.outputs + parts.inputs)));
      types.add(op.result(i)->type().to_string());
      results.add(op.result(i)->type().to_string());
    }
    const std::string count = std::to_string(op.result_count() + 1);
    return "(" + arguments.text() + ") -> (" + results.text() +
           ") {\n  %zero = stablehlo.constant dense<0> : " + std::string(kIndex) +
           "\n  %one = stablehlo.constant dense<1> : " + std::string(kIndex) +
           "\n  %extent = stablehlo.constant dense<" + std::to_string(parts.extent) +
           "> : " + std::string(kIndex) +
           "\n  %last = stablehlo.subtract %extent, %one : " + std::string(kIndex) + "\n" + text +
           "  %w:" + count + " = stablehlo.while(" + carried.text() + ") : " + types.text() +
           " cond {\n  %p = stablehlo.compare LT, %i, %extent, SIGNED : (tensor<i32>, "
           "tensor<i32>) -> tensor<i1>\n  stablehlo.return %p : tensor<i1>\n  } do {\n" +
           rounds(types.text()) + "  }\n" + tail(results.text());
  }
  std::string rounds(const std::string& types) const {
    std::string text = "  %at = stablehlo." +
                       std::string(parts.reverse ? "subtract %last, %i" : "add %zero, %i") +
                       " : tensor<i32>\n";
    List operands, from, to, next;
    for (int i = 0; i < parts.inputs; ++i) {
      const std::string n = std::to_string(i);
      const ir::Type whole = op.operand(i)->type();
      std::vector<std::int64_t> sizes(whole.dims().begin(), whole.dims().end());
      sizes[static_cast<std::size_t>(parts.dimension)] = 1;
      append(text, {"  %t",
                    n,
                    " = stablehlo.dynamic_slice %a",
                    n,
                    ", ",
                    starts(whole),
                    ", sizes = ",
                    list(sizes),
                    " : (",
                    whole.to_string(),
                    index_types(whole),
                    ") -> ",
                    thin(whole),
                    "\n  %s",
                    n,
                    " = stablehlo.reshape %t",
                    n,
                    " : (",
                    thin(whole),
                    ") -> ",
                    argument(i).to_string(),
                    "\n"});
      operands.add("%s" + n);
    }
    for (int i = parts.outputs; i < op.result_count(); ++i) operands.add("%c" + std::to_string(i));
    for (int i = 0; i < op.operand_count(); ++i) from.add(argument(i).to_string());
    for (std::size_t i = 0; i < outer.size(); ++i) {
      operands.add("%x" + std::to_string(i));
      from.add(outer[i]->type().to_string());
    }
    for (int i = 0; i < op.result_count(); ++i) to.add(given(i).to_string());
    if (op.result_count() != 0) text += "  %r:" + std::to_string(op.result_count()) + " = ";
    text += "func.call @\"" + body + "\"(" + operands.text() + ") : (" + from.text() + ") -> (" +
            to.text() + ")\n";
    text += "  %next = stablehlo.add %i, %one : tensor<i32>\n";
    next.add("%next");
    for (int i = 0; i < op.result_count(); ++i) {
      const std::string n = std::to_string(i);
      if (i >= parts.outputs) {
        next.add("%r#" + n);
        continue;
      }
      const ir::Type whole = op.result(i)->type();
      append(text, {"  %u",
                    n,
                    " = stablehlo.reshape %r#",
                    n,
                    " : (",
                    given(i).to_string(),
                    ") -> ",
                    thin(whole),
                    "\n  %v",
                    n,
                    " = stablehlo.dynamic_update_slice %c",
                    n,
                    ", %u",
                    n,
                    ", ",
                    starts(whole),
                    " : (",
                    whole.to_string(),
                    ", ",
                    thin(whole),
                    index_types(whole),
                    ") -> ",
                    whole.to_string(),
                    "\n"});
      next.add("%v" + n);
    }
    return text + "  stablehlo.return " + next.text() + " : " + types + "\n";
  }
  std::string tail(const std::string& results) const {
    List made;
    for (int i = 0; i < op.result_count(); ++i) made.add("%w#" + std::to_string(i + 1));
    return "  return " + made.text() + " : " + results + "\n}\n";
  }
  // What is called: its body is the operation's own.
  std::string declaration() const {
    List from, to;
    for (int i = 0; i < op.operand_count(); ++i) from.add(argument(i).to_string());
    for (const ir::Value* v : outer) from.add(v->type().to_string());
    for (int i = 0; i < op.result_count(); ++i) to.add(given(i).to_string());
    return "func.func private @\"" + body + "\"(" + from.text() + ") -> (" + to.text() + ")\n";
  }
};

}  // namespace

std::vector<const ir::Value*> values_from_outside(const ir::Region& region) {
  std::unordered_set<const ir::Value*> known;
  std::vector<const ir::Value*> outer;
  for (const ir::Block* block : region.blocks()) add_outer(*block, known, outer);
  return outer;
}

std::optional<std::string> expand_scan(const ir::Op& op, std::string_view name,
                                       std::span<const ir::Value* const> outer) {
  const auto parts = ir::scan_parts_of(op);
  if (!parts || op.result_count() == 0) return std::nullopt;
  for (const ir::Value* v : op.operands()) {
    if (!is_plain(v->type())) return std::nullopt;
  }
  for (const ir::Value& v : op.results()) {
    if (!is_plain(v.type())) return std::nullopt;
  }
  for (const ir::Value* v : outer) {
    if (!is_plain(v->type())) return std::nullopt;
  }
  const ScanText text{op, *parts, std::string(name) + ".body", outer};
  return "func.func private @\"" + std::string(name) + "\"" + text.head() + text.declaration();
}

}  // namespace millrace::devices::cpu::bytecode
