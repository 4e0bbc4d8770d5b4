// Short forms with regions, and returns. Of Shardy's operations, which travel with StableHLO, what
// they say of meshes and shardings is kept as the text of attributes.
#include <algorithm>

#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

bool read_reduce_tail(State& s, Draft& d) {
  return s.in.expect_word("across") && s.in.expect_field("dimensions") &&
         read_value(s, d, "dimensions", read_ints) && read_tail(s, d);
}

// The body that "applies stablehlo.add" stands for: one op on two scalars of the initial value's
// type.
bool make_reduce_body(State& s, Draft& d, ir::OpKind applied) {
  if (d.operands.size() != 2) return s.in.fail_at(d.location, "'applies' goes with one input");
  const ir::Type type = d.operands[1]->type();
  const ir::Type types[] = {type, type};
  ir::Block* block = s.module.create_block(types);
  ir::Value* const operands[] = {block->argument(0), block->argument(1)};
  ir::Op* op = s.module.create_op({.kind = applied,
                                   .location = d.location,
                                   .operands = operands,
                                   .result_types = {&types[0], 1}});
  block->append(op);
  ir::Value* const result[] = {op->result()};
  block->append(s.module.create_op(
      {.kind = ir::OpKind::kReturn, .location = d.location, .operands = result}));
  d.regions.push_back({block});
  return true;
}

// "(%x: S, %y: S) (%p: I, %q: I)": for each input its two arguments; the block has all firsts, then
// all seconds.
bool read_reducer_arguments(State& s, std::vector<Argument>* out) {
  std::vector<Argument> seconds;
  while (s.in.accept('(')) {
    if (!read_argument(s, &out->emplace_back()) || !s.in.expect(',') ||
        !read_argument(s, &seconds.emplace_back()) || !s.in.expect(')')) {
      return false;
    }
  }
  out->insert(out->end(), seconds.begin(), seconds.end());
  return true;
}

// What stands in the brackets at the cursor, between the words that make it an attribute.
bool read_as_attribute(State& s, Draft& d, std::string_view name, char bracket,
                       std::string_view before, std::string_view after) {
  const std::size_t begin = s.in.begin();
  if (!s.in.skip_balanced(bracket)) return false;
  add(s, d, name, make_opaque(s, ir::message(before, text_since(s, begin), after)));
  return true;
}

// "%a <@mesh, [{"x"}, {}]> : T"
bool read_constraint(State& s, Draft& d) {
  return read_operand(s, &d.operands) &&
         read_as_attribute(s, d, "sharding", '<', "#sdy.sharding", "") &&
         read_optional_dict(s, &d.attributes) && s.in.expect(':') &&
         read_type(s, &d.result_types.emplace_back()) && match_operand_types(s, d, d.result_types);
}

// "(%a) in_shardings=[...] out_shardings=[...] manual_axes={...} (%x: T) { ... } : (T) -> U"
bool read_manual_computation(State& s, Draft& d) {
  if (!read_operand_tuple(s, &d.operands)) return false;
  for (const std::string_view name : {"in_shardings", "out_shardings"}) {
    if (!s.in.expect_field(name) ||
        !read_as_attribute(s, d, name, '[', "#sdy.sharding_per_value<", ">")) {
      return false;
    }
  }
  std::vector<Argument> arguments;
  return s.in.expect_field("manual_axes") &&
         read_as_attribute(s, d, "manual_axes", '{', "#sdy<manual_axes", ">") &&
         read_arguments(s, &arguments) && read_region(s, arguments, &d.regions.emplace_back()) &&
         read_tail(s, d);
}

// "%a group_id=3 : T"
bool read_sharding_group(State& s, Draft& d) {
  std::int64_t group = 0;
  if (!read_operand(s, &d.operands) || !s.in.expect_field("group_id") || !s.in.integer(&group))
    return false;
  add(s, d, "group_id", make_int(s, group));
  std::vector<ir::Type> types;
  return read_optional_dict(s, &d.attributes) && s.in.expect(':') && read_types(s, &types) &&
         match_operand_types(s, d, types);
}

// "%a allowed_direction=FORWARD : T"
bool read_propagation_barrier(State& s, Draft& d) {
  if (!read_operand(s, &d.operands) || !s.in.expect_field("allowed_direction")) return false;
  constexpr std::string_view kDirections[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
  const auto* found = std::ranges::find(kDirections, s.in.token().text);
  if (found == std::end(kDirections)) return s.in.unexpected("a direction of propagation");
  s.in.advance();
  add(s, d, "allowed_direction", make_int(s, found - kDirections, DType::kI32));
  return read_optional_dict(s, &d.attributes) && s.in.expect(':') &&
         read_type(s, &d.result_types.emplace_back()) && match_operand_types(s, d, d.result_types);
}

}  // namespace

PrettyReader pretty_sharding_reader(std::string_view name) {
  if (name == "sdy.sharding_group") return read_sharding_group;
  if (name == "sdy.propagation_barrier") return read_propagation_barrier;
  if (name == "sdy.sharding_constraint" || name == "sdy.reshard") return read_constraint;
  if (name == "sdy.manual_computation") return read_manual_computation;
  return name == "sdy.return" ? read_pretty_return : nullptr;
}

// "(%a init: %z), (%b init: %y) across dimensions = [0] : signature reducer(%x: S, %y: S) ...
// {...}": the operands are the inputs, then the initial values. "applies stablehlo.add" is a body
// of one op.
bool read_pretty_reduce(State& s, Draft& d) {
  std::vector<ir::Value*> inits;
  const bool good = s.in.commas([&] {
    return s.in.expect('(') && read_operand(s, &d.operands) && s.in.expect_word("init") &&
           s.in.expect(':') && read_operand(s, &inits) && s.in.expect(')');
  });
  if (!good) return false;
  d.operands.insert(d.operands.end(), inits.begin(), inits.end());
  if (s.in.accept_word("applies")) {
    const Token word = s.in.token();
    const ir::OpKind applied =
        word.kind == TokenKind::kBareId ? ir::op_kind_from_string(word.text) : ir::OpKind::kOther;
    if (applied == ir::OpKind::kOther) return s.in.unexpected("the operation that is applied");
    s.in.advance();
    return read_reduce_tail(s, d) && make_reduce_body(s, d, applied);
  }
  std::vector<Argument> arguments;
  return read_reduce_tail(s, d) && s.in.expect_word("reducer") &&
         read_reducer_arguments(s, &arguments) &&
         read_region(s, arguments, &d.regions.emplace_back());
}

// "(%i = %c0, %x = %x0) : T, U cond {...} do {...}": argument names and their first values.
bool read_pretty_while(State& s, Draft& d) {
  std::vector<Argument> arguments;
  const bool good = s.in.list('(', ')', [&] {
    Argument& a = arguments.emplace_back();
    a.location = s.in.location();
    return read_value_name(s, &a.name) && s.in.expect('=') && read_operand(s, &d.operands);
  });
  if (!good) return false;
  if (s.in.accept(':') && !read_types(s, &d.result_types)) return false;
  if (!match_operand_types(s, d, d.result_types)) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i].type = d.result_types[i];
  if (s.in.accept_word("attributes") && !read_attribute_dict(s, &d.attributes)) return false;
  if (!s.in.expect_word("cond") || !read_region(s, arguments, &d.regions.emplace_back()))
    return false;
  s.in.set_op(d.name);
  return s.in.expect_word("do") && read_region(s, arguments, &d.regions.emplace_back());
}

bool read_pretty_return(State& s, Draft& d) {
  if (!read_optional_dict(s, &d.attributes) || !read_operands(s, &d.operands) ||
      !read_optional_dict(s, &d.attributes))
    return false;
  if (d.operands.empty()) return true;
  std::vector<ir::Type> types;
  return s.in.expect(':') && read_types(s, &types) && match_operand_types(s, d, types);
}

}  // namespace millrace::devices::stablehlo::text
