// Control flow, calls, and what only passes values on.
#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {

std::vector<ir::Type> result_types(const Check& c) { return ir::types_of(c.op.results()); }

std::vector<ir::Type> operand_types(const Check& c) { return ir::types_of(c.op.operands()); }

bool same_list(Check& c, std::span<const ir::Type> found, std::span<const ir::Type> expected,
               std::string_view what) {
  if (found.size() != expected.size())
    return c.fail("found ", found.size(), " ", what, "s, expected ", expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!compatible(found[i], expected[i]))
      return c.fail(what, " ", i, " is ", found[i], ", expected ", expected[i]);
  }
  return true;
}

bool check_while(Check& c) {
  const auto types = operand_types(c);
  const ir::Type predicate[1] = {};
  return c.regions(2) && same_list(c, result_types(c), types, "result") &&
         c.region_types(0, types, predicate) && c.region_types(1, types, types) &&
         c.predicate(c.returned(0), "the value of the condition");
}

bool check_if(Check& c) {
  const auto types = result_types(c);
  return c.counts(1, c.op.result_count()) && c.predicate(c.operand(0), "operand 0") &&
         c.regions(2) && c.region_types(0, {}, types) && c.region_types(1, {}, types);
}

bool check_case(Check& c) {
  const auto types = result_types(c);
  if (!c.counts(1, c.op.result_count()) || !c.scalar(0)) return false;
  if (c.operand(0).dtype() != DType::kI32)
    return c.fail("operand 0 is ", c.operand(0), ", expected elements of i32");
  if (c.op.regions().empty()) return c.fail("found no branches, expected at least one");
  for (std::size_t i = 0; i < c.op.regions().size(); ++i) {
    if (!c.region_types(static_cast<int>(i), {}, types)) return false;
  }
  return true;
}

// A function of the name that takes the operands and gives the results.
bool check_call(Check& c) {
  const std::string_view name = c.op.callee();
  const bool composite = c.op.kind() == ir::OpKind::kComposite;
  if (name.empty())
    return c.fail("the attribute ", composite ? "decomposition" : "callee", " is missing");
  const ir::Function* f = c.module.find(name);
  if (f == nullptr) return c.fail("there is no function @", name);
  return same_list(c, operand_types(c), f->inputs(), "operand") &&
         same_list(c, result_types(c), f->results(), "result");
}

bool check_custom_call(Check& c) {
  if (c.op.attr<ir::StringAttr>("call_target_name") == nullptr)
    return c.fail("the attribute call_target_name is missing");
  const std::int64_t version = c.op.int_or("api_version", 1);
  return (version >= 0 && version <= 4) ||
         c.fail("found api_version = ", version, ", expected 0 to 4");
}

bool check_tuple(Check& c) {
  if (!c.results(1)) return false;
  if (c.result().kind() != ir::TypeKind::kTuple)
    return c.fail("the result is ", c.result(), ", expected a tuple");
  return same_list(c, operand_types(c), c.result().members(), "operand");
}

bool check_get_tuple_element(Check& c) {
  if (!c.counts(1, 1)) return false;
  if (c.operand(0).kind() != ir::TypeKind::kTuple)
    return c.fail("operand 0 is ", c.operand(0), ", expected a tuple");
  const auto members = c.operand(0).members();
  std::int64_t index = 0;
  return c.integer("index", 0, static_cast<std::int64_t>(members.size()) - 1, &index) &&
         same_list(c, result_types(c), members.subspan(static_cast<std::size_t>(index), 1),
                   "result");
}

}  // namespace millrace::devices::stablehlo::verify
