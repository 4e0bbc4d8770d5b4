#include "millrace/devices/stablehlo/text/ops.h"

#include <algorithm>
#include <charconv>

#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

// %a, %b:2 = in front of an op: each name stands for one or more of its results.
struct ResultName {
  std::string_view name;
  std::size_t count;
  ir::Location location;
};

bool read_result_names(State& s, std::vector<ResultName>* out) {
  if (s.in.token().kind != TokenKind::kValueId) return true;
  return s.in.commas([&] {
    ResultName r{{}, 1, s.in.location()};
    std::int64_t count = 1;
    if (!read_value_name(s, &r.name) || (s.in.accept(':') && !s.in.integer(&count))) return false;
    if (count < 1) return s.in.fail_at(r.location, "a name for no results");
    r.count = static_cast<std::size_t>(count);
    out->push_back(r);
    return true;
  }) && s.in.expect('=');
}

bool bind_results(State& s, std::span<const ResultName> names, std::span<ir::Value> results) {
  if (names.empty()) return true;
  std::size_t at = 0;
  for (const ResultName& r : names) {
    if (r.count > results.size() - at) {
      return s.in.fail_at(r.location, "more names than the operation has results (", results.size(),
                          ")");
    }
    if (!s.scope.define(r.name, results.subspan(at, r.count)))
      return s.in.fail_at(r.location, "%", r.name, " is defined twice");
    at += r.count;
  }
  return at == results.size() || s.in.fail_at(names.front().location, "names for ", at,
                                              " results, but the operation has ", results.size());
}

bool read_successors(State& s, Draft& draft) {
  if (!s.in.accept('[')) return true;
  return s.in.commas([&] {
    const Token label = s.in.token();
    if (!s.in.expect(TokenKind::kBlockId, "the ^label of a block")) return false;
    if (s.labels == nullptr) return s.in.fail_at(label.location, "a successor outside a region");
    // A block may be named before it is read; its arguments come then.
    Label& target = (*s.labels)[label.name()];
    if (target.block == nullptr) target.block = s.module.create_block({});
    draft.successors.push_back(target.block);
    return true;
  }) && s.in.expect(']');
}

bool read_generic_regions(State& s, Draft& draft) {
  if (!s.in.accept('(')) return true;
  const bool isolated = draft.name == "func.func";
  return s.in.commas([&] { return read_region(s, {}, &draft.regions.emplace_back(), isolated); }) &&
         s.in.expect(')');
}

// Behind "name": (%a, %b)[^bb1] <{properties}> ({region}) {attributes} : (T, U) -> V
bool read_generic(State& s, Draft& draft) {
  if (!read_operand_tuple(s, &draft.operands) || !read_successors(s, draft)) return false;
  if (s.in.accept('<') && (!read_attribute_dict(s, &draft.attributes) || !s.in.expect('>')))
    return false;
  s.in.set_op(draft.name);
  if (!read_generic_regions(s, draft)) return false;
  s.in.set_op(draft.name);
  return read_optional_dict(s, &draft.attributes) && read_signature(s, draft);
}

// Inside a function return and call stand for func.return and func.call.
ir::OpKind kind_of_word(std::string_view word) {
  if (word == "return") return ir::OpKind::kFuncReturn;
  if (word == "call") return ir::OpKind::kCall;
  return ir::op_kind_from_string(word);
}

bool read_body(State& s, Draft& draft) {
  const Token name = s.in.token();
  draft.location = name.location;
  if (name.kind == TokenKind::kString) {
    std::string text;
    if (!s.in.string(&text)) return false;
    draft.kind = ir::op_kind_from_string(text);
    draft.name =
        draft.kind == ir::OpKind::kOther ? s.module.intern(text) : ir::to_string(draft.kind);
    if (draft.name.empty()) return s.in.fail_at(name.location, "an operation without a name");
    s.in.set_op(draft.name);
    return read_generic(s, draft);
  }
  if (name.kind != TokenKind::kBareId) return s.in.unexpected("an operation");
  PrettyReader reader = pretty_sharding_reader(name.text);
  if (reader != nullptr) {
    draft.name = s.module.intern(name.text);
  } else {
    draft.kind = kind_of_word(name.text);
    draft.name = ir::to_string(draft.kind);
    reader = pretty_reader(draft.kind);
  }
  if (reader == nullptr) {
    return s.in.fail_at(name.location, "the operation ", name.text.substr(0, 80),
                        " has no short form that is known; write it as \"name\"(...)");
  }
  s.in.set_op(draft.name);
  s.in.advance();
  return reader(s, draft);
}

ir::Op* make_op(State& s, const Draft& draft) {
  ir::Op* op = s.module.create_op({.kind = draft.kind,
                                   .name = draft.name,
                                   .location = draft.location,
                                   .operands = draft.operands,
                                   .result_types = draft.result_types,
                                   .attributes = draft.attributes,
                                   .regions = static_cast<int>(draft.regions.size()),
                                   .successors = draft.successors});
  for (std::size_t i = 0; i < draft.regions.size(); ++i) {
    s.module.set_blocks(op->regions()[i], draft.regions[i]);
  }
  return op;
}

// Gives the block its arguments (if it is not made yet, makes it) and their names.
bool open_block(State& s, std::span<const Argument> arguments, ir::Block** block) {
  std::vector<ir::Type> types;
  for (const Argument& a : arguments) types.push_back(a.type);
  if (*block == nullptr) {
    *block = s.module.create_block(types);
  } else {
    s.module.set_arguments(**block, types);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!s.scope.define(arguments[i].name, (*block)->arguments().subspan(i, 1))) {
      return s.in.fail_at(arguments[i].location, "%", arguments[i].name, " is defined twice");
    }
  }
  return true;
}

// Ops up to a label or '}', neither stepped over.
bool read_block_ops(State& s, ir::Block& block) {
  while (!s.in.token().is('}') && s.in.token().kind != TokenKind::kBlockId) {
    if (s.in.token().kind == TokenKind::kEnd) return s.in.unexpected("an operation or '}'");
    if (!read_op(s, block)) return false;
  }
  return true;
}

bool read_labelled_block(State& s, std::vector<ir::Block*>* blocks) {
  const Token label = s.in.token();
  if (!s.in.expect(TokenKind::kBlockId, "the ^label of a block")) return false;
  std::vector<Argument> arguments;
  if (s.in.token().is('(') && !read_arguments(s, &arguments)) return false;
  if (!s.in.skip_location() || !s.in.expect(':')) return false;
  Label& known = (*s.labels)[label.name()];
  if (known.defined)
    return s.in.fail_at(label.location, "the block ", label.text, " is defined twice");
  known.defined = true;
  if (!open_block(s, arguments, &known.block)) return false;
  blocks->push_back(known.block);
  return read_block_ops(s, *known.block);
}

bool read_blocks(State& s, std::span<const Argument> arguments, std::vector<ir::Block*>* blocks) {
  if (!s.in.expect('{')) return false;
  // A region without a label has its entry block, be it empty: "{ }" is a region of no blocks only
  // if the op gives it no arguments.
  if (s.in.token().kind != TokenKind::kBlockId && !(s.in.token().is('}') && arguments.empty())) {
    ir::Block* entry = nullptr;
    if (!open_block(s, arguments, &entry)) return false;
    blocks->push_back(entry);
    if (!read_block_ops(s, *entry)) return false;
  }
  while (s.in.token().kind == TokenKind::kBlockId) {
    if (!read_labelled_block(s, blocks)) return false;
  }
  for (const auto& [name, label] : *s.labels) {
    if (!label.defined) return s.in.fail("the block ^", name, " is used but not defined");
  }
  return s.in.expect('}');
}

}  // namespace

bool read_value_name(State& s, std::string_view* name) {
  *name = s.in.token().kind == TokenKind::kValueId ? s.in.token().name() : std::string_view();
  return s.in.expect(TokenKind::kValueId, "a %value");
}

bool read_argument(State& s, Argument* out) {
  out->location = s.in.location();
  return read_value_name(s, &out->name) && s.in.expect(':') && read_type(s, &out->type) &&
         s.in.skip_location();
}

bool read_arguments(State& s, std::vector<Argument>* out) {
  return s.in.list('(', ')', [&] { return read_argument(s, &out->emplace_back()); });
}

bool read_operand(State& s, std::vector<ir::Value*>* out) {
  const Token token = s.in.token();
  if (!s.in.expect(TokenKind::kValueId, "a %value")) return false;
  const std::span<ir::Value> values = s.scope.find(token.name());
  if (values.empty())
    return s.in.fail_at(token.location, "%", token.name(), " is used but not defined before");
  // %a#1 lexes as the value %a and #1.
  std::size_t index = 0;
  if (s.in.token().kind == TokenKind::kAttrId && s.in.begin() == s.in.previous_end()) {
    const std::string_view digits = s.in.token().name();
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (code != std::errc() || end != digits.data() + digits.size() || index >= values.size()) {
      return s.in.fail_at(token.location, "%", token.name(), " stands for ", values.size(),
                          " results; there is no #", digits.substr(0, 20));
    }
    s.in.advance();
  } else if (values.size() != 1) {
    return s.in.fail_at(token.location, "%", token.name(), " stands for ", values.size(),
                        " results, say which with #0 and so on");
  }
  out->push_back(&values[index]);
  return true;
}

bool read_operands(State& s, std::vector<ir::Value*>* out, bool* comma) {
  bool after_comma = false;
  while (s.in.token().kind == TokenKind::kValueId) {
    if (!read_operand(s, out)) return false;
    after_comma = s.in.accept(',');
    if (!after_comma) break;
  }
  return comma != nullptr ? give(comma, after_comma) : !after_comma || s.in.unexpected("a %value");
}

bool read_operand_tuple(State& s, std::vector<ir::Value*>* out) {
  return s.in.expect('(') && read_operands(s, out) && s.in.expect(')');
}

bool match_operand_types(State& s, const Draft& draft, std::span<const ir::Type> types) {
  if (types.size() != draft.operands.size()) {
    return s.in.fail_at(draft.location, "found ", draft.operands.size(),
                        " operands, but the types of ", types.size());
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const ir::Type type = draft.operands[i]->type();
    if (type != types[i]) {
      return s.in.fail_at(draft.location, "operand ", i, " is ", type.to_string().substr(0, 200),
                          ", but the text says ", types[i].to_string().substr(0, 200));
    }
  }
  return true;
}

bool read_signature(State& s, Draft& draft) {
  std::vector<ir::Type> inputs;
  return s.in.expect(':') && read_function_type(s, &inputs, &draft.result_types) &&
         match_operand_types(s, draft, inputs);
}

bool read_op(State& s, ir::Block& block) {
  Nesting nesting(s.in);
  if (!nesting) return false;
  s.in.set_op({});
  std::vector<ResultName> names;
  if (!read_result_names(s, &names)) return false;
  DraftLease draft(s);
  if (!read_body(s, *draft)) return false;
  if (!s.in.skip_location()) return false;
  ir::Op* op = make_op(s, *draft);
  block.append(op);
  return bind_results(s, names, op->results());
}

bool read_region(State& s, std::span<const Argument> arguments, std::vector<ir::Block*>* blocks,
                 bool isolated) {
  Nesting nesting(s.in);
  if (!nesting) return false;
  std::unordered_map<std::string_view, Label> labels;
  auto* const outer = std::exchange(s.labels, &labels);
  Scope outside;
  if (isolated) std::swap(s.scope, outside);
  const std::size_t mark = s.scope.enter();
  const bool good = read_blocks(s, arguments, blocks);
  s.scope.leave(mark);
  if (isolated) std::swap(s.scope, outside);
  s.labels = outer;
  return good;
}

}  // namespace millrace::devices::stablehlo::text
