// Control flow, calls, and what only passes values on.
#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {

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
  const auto types = c.operand_types();
  const ir::Type predicate[1] = {};
  return c.regions(2) && same_list(c, c.result_types(), types, "result") &&
         c.region_types(0, types, predicate) && c.region_types(1, types, types) &&
         c.predicate(c.returned(0), "the value of the condition");
}

bool check_if(Check& c) {
  const auto types = c.result_types();
  return c.counts(1, c.op.result_count()) && c.predicate(c.operand(0), "operand 0") &&
         c.regions(2) && c.region_types(0, {}, types) && c.region_types(1, {}, types);
}

bool check_case(Check& c) {
  const auto types = c.result_types();
  if (!c.counts(1, c.op.result_count()) || !c.scalar(0)) return false;
  if (c.operand(0).dtype() != DType::kI32)
    return c.fail("operand 0 is ", c.operand(0), ", expected elements of i32");
  if (c.op.regions().empty()) return c.fail("found no branches, expected at least one");
  return all(static_cast<int>(c.op.regions().size()),
             [&](int i) { return c.region_types(i, {}, types); });
}

// A function of the name that takes the operands and gives the results.
bool check_call(Check& c) {
  const std::string_view name = c.op.callee();
  const bool composite = c.op.kind() == ir::OpKind::kComposite;
  if (name.empty())
    return c.fail("the attribute ", composite ? "decomposition" : "callee", " is missing");
  const ir::Function* f = c.module.find(name);
  if (f == nullptr) return c.fail("there is no function @", name);
  return same_list(c, c.operand_types(), f->inputs(), "operand") &&
         same_list(c, c.result_types(), f->results(), "result");
}

bool check_custom_call(Check& c) {
  if (c.op.attr<ir::StringAttr>("call_target_name") == nullptr)
    return c.fail("the attribute call_target_name is missing");
  const std::int64_t version = c.op.int_or("api_version", 1);
  return (version >= 0 && version <= 4) ||
         c.fail("found api_version = ", version, ", expected 0 to 4");
}

bool check_tuple(Check& c) {
  return c.results(1) && c.is_kind(c.result(), ir::TypeKind::kTuple, "the result", "a tuple") &&
         same_list(c, c.operand_types(), c.result().members(), "operand");
}

bool check_get_tuple_element(Check& c) {
  if (!c.counts(1, 1) || !c.is_kind(c.operand(0), ir::TypeKind::kTuple, "operand 0", "a tuple"))
    return false;
  const auto members = c.operand(0).members();
  std::int64_t index = 0;
  return c.integer("index", 0, static_cast<std::int64_t>(members.size()) - 1, &index) &&
         same_list(c, c.result_types(), members.subspan(static_cast<std::size_t>(index), 1),
                   "result");
}

}  // namespace millrace::devices::stablehlo::verify
