// Control flow, calls, and what only passes values on.
#include <algorithm>

#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
std::vector<ir::Type> result_types(const Check& c) {
  std::vector<ir::Type> out;
  for (const ir::Value& v : c.op.results()) out.push_back(v.type());
  return out;
}

std::vector<ir::Type> operand_types(const Check& c) {
  std::vector<ir::Type> out;
  for (const ir::Value* v : c.op.operands()) out.push_back(v->type());
  return out;
}

bool same_list(Check& c, std::span<const ir::Type> found, std::span<const ir::Type> expected,
               std::string_view what) {
  if (found.size() != expected.size()) {
    return c.fail("found " + std::to_string(found.size()) + " " + std::string(what) +
                  "s, expected " + std::to_string(expected.size()));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!compatible(found[i], expected[i])) {
      return c.fail(std::string(what) + " " + std::to_string(i) + " is " + found[i].to_string() +
                    ", expected " + expected[i].to_string());
    }
  }
  return true;
}

namespace {

// A function of this name that takes the operands and gives the results.
bool check_target(Check& c, std::string_view name) {
  const ir::Function* f = c.module.find(name);
  if (f == nullptr) return c.fail("there is no function @" + std::string(name));
  return same_list(c, operand_types(c), f->inputs(), "operand") &&
         same_list(c, result_types(c), f->results(), "result");
}

bool scalar_predicate(Check& c, ir::Type type, std::string_view what) {
  return c.scalar(type, what) && c.element_in(type, kBool, what);
}

}  // namespace

bool check_while(Check& c) {
  const auto types = operand_types(c);
  const ir::Type predicate[1] = {};
  if (!c.regions(2) || !same_list(c, result_types(c), types, "result") ||
      !c.region_types(0, types, predicate) || !c.region_types(1, types, types)) {
    return false;
  }
  return scalar_predicate(c, c.op.region(0).block().terminator()->operand(0)->type(),
                          "the value of the condition");
}

bool check_if(Check& c) {
  const auto types = result_types(c);
  return c.operands(1) && scalar_predicate(c, c.operand(0), "operand 0") && c.regions(2) &&
         c.region_types(0, {}, types) && c.region_types(1, {}, types);
}

bool check_case(Check& c) {
  const auto types = result_types(c);
  if (!c.operands(1) || !c.scalar(c.operand(0), "operand 0")) return false;
  if (c.operand(0).dtype() != DType::kI32)
    return c.fail("operand 0 is " + c.operand(0).to_string() + ", expected elements of i32");
  if (c.op.regions().empty()) return c.fail("found no branches, expected at least one");
  for (std::size_t i = 0; i < c.op.regions().size(); ++i) {
    if (!c.region_types(static_cast<int>(i), {}, types)) return false;
  }
  return true;
}

bool check_call(Check& c) {
  if (c.op.callee().empty()) return c.fail("the attribute callee is missing");
  return check_target(c, c.op.callee());
}

bool check_composite(Check& c) {
  if (c.op.callee().empty()) return c.fail("the attribute decomposition is missing");
  return check_target(c, c.op.callee());
}

bool check_custom_call(Check& c) {
  if (c.op.attr<ir::StringAttr>("call_target_name") == nullptr)
    return c.fail("the attribute call_target_name is missing");
  const std::int64_t version = c.op.int_or("api_version", 1);
  return (version >= 0 && version <= 4) ||
         c.fail("found api_version = " + std::to_string(version) + ", expected 0 to 4");
}

bool check_tuple(Check& c) {
  if (!c.results(1)) return false;
  if (c.result().kind() != ir::TypeKind::kTuple)
    return c.fail("the result is " + c.result().to_string() + ", expected a tuple");
  return same_list(c, operand_types(c), c.result().members(), "operand");
}

bool check_get_tuple_element(Check& c) {
  if (!c.operands(1) || !c.results(1)) return false;
  if (c.operand(0).kind() != ir::TypeKind::kTuple)
    return c.fail("operand 0 is " + c.operand(0).to_string() + ", expected a tuple");
  const auto members = c.operand(0).members();
  std::int64_t index = 0;
  if (!c.integer("index", 0, static_cast<std::int64_t>(members.size()) - 1, &index)) return false;
  return same_list(c, result_types(c), members.subspan(static_cast<std::size_t>(index), 1),
                   "result");
}

bool check_optimization_barrier(Check& c) {
  return same_list(c, result_types(c), operand_types(c), "result");
}

}  // namespace millrace::devices::cpu::verify
