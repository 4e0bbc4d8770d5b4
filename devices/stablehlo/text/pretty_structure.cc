// Short forms with regions, symbols or any number of values: reduce, while, calls, composite,
// return.
#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/pretty.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

// "(%a init: %z), (%b init: %y)": the inputs, then the initial values.
bool read_reduce_operands(State& s, Draft& d) {
  std::vector<ir::Value*> inits;
  const bool good = s.in.commas([&] {
    return s.in.expect('(') && read_operand(s, &d.operands) && s.in.expect_word("init") &&
           s.in.expect(':') && read_operand(s, &inits) && s.in.expect(')');
  });
  d.operands.insert(d.operands.end(), inits.begin(), inits.end());
  return good;
}

bool read_reduce_tail(State& s, Draft& d) {
  std::vector<std::int64_t> dims;
  if (!s.in.expect_word("across") || !s.in.expect_field("dimensions") || !s.in.int_list(&dims))
    return false;
  add(s, d, "dimensions", make_ints(s, dims));
  return read_tail(s, d);
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

// "%i = %c0, %x = %x0": argument names and their first values.
bool read_while_header(State& s, Draft& d, std::vector<Argument>* arguments) {
  return s.in.list('(', ')', [&] {
    Argument& a = arguments->emplace_back();
    a.location = s.in.location();
    return read_value_name(s, &a.name) && s.in.expect('=') && read_operand(s, &d.operands);
  });
}

}  // namespace

bool read_pretty_reduce(State& s, Draft& d) {
  if (!read_reduce_operands(s, d)) return false;
  if (s.in.accept_word("applies")) {
    const Token word = s.in.token();
    const ir::OpKind applied =
        word.kind == TokenKind::kBareId ? ir::op_kind_from_string(word.text) : ir::OpKind::kOther;
    if (applied == ir::OpKind::kOther) return s.in.unexpected("the operation that is applied");
    s.in.advance();
    return read_reduce_tail(s, d) && make_reduce_body(s, d, applied);
  }
  std::vector<Argument> arguments;
  if (!read_reduce_tail(s, d)) return false;
  if (!s.in.expect_word("reducer") || !read_reducer_arguments(s, &arguments)) return false;
  return read_region(s, arguments, &d.regions.emplace_back());
}

bool read_pretty_while(State& s, Draft& d) {
  std::vector<Argument> arguments;
  if (!read_while_header(s, d, &arguments)) return false;
  if (s.in.accept(':') && !read_types(s, &d.result_types)) return false;
  if (!match_operand_types(s, d, d.result_types)) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i].type = d.result_types[i];
  if (s.in.accept_word("attributes") && !read_attribute_dict(s, &d.attributes)) return false;
  if (!s.in.expect_word("cond") || !read_region(s, arguments, &d.regions.emplace_back()))
    return false;
  s.in.set_op(d.name);
  return s.in.expect_word("do") && read_region(s, arguments, &d.regions.emplace_back());
}

bool read_pretty_custom_call(State& s, Draft& d) {
  std::string target;
  if (!s.in.symbol(&target) || !read_operand_tuple(s, &d.operands)) return false;
  add(s, d, "call_target_name", make_string(s, target));
  return read_tail(s, d);
}

bool read_pretty_composite(State& s, Draft& d) {
  std::string name;
  if (!s.in.string(&name) || !read_operands(s, &d.operands)) return false;
  add(s, d, "name", make_string(s, name));
  return read_tail(s, d);
}

bool read_pretty_call(State& s, Draft& d) {
  if (s.in.token().kind != TokenKind::kSymbol)
    return s.in.unexpected("the @function that is called");
  std::string callee;
  if (!s.in.symbol(&callee) || !read_operand_tuple(s, &d.operands)) return false;
  add(s, d, "callee", make_symbol(s, callee));
  return read_tail(s, d);
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
