// Short forms of Shardy's operations that travel with StableHLO. What they say of meshes and
// shardings is kept as the text of attributes.
#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/pretty.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

// What stands in the brackets at the cursor, between the words that make it an attribute.
bool read_as_attribute(State& s, Draft& d, std::string_view name, char bracket,
                       std::string_view before, std::string_view after) {
  const std::size_t begin = s.in.begin();
  if (!s.in.skip_balanced(bracket)) return false;
  const std::string text =
      std::string(before) + std::string(text_since(s, begin)) + std::string(after);
  add(s, d, name, s.module.attribute(ir::OpaqueAttr{{}, s.module.intern(text)}));
  return true;
}

// "%a <@mesh, [{"x"}, {}]> : T"
bool read_constraint(State& s, Draft& d) {
  if (!read_operand(s, &d.operands)) return false;
  if (!read_as_attribute(s, d, "sharding", '<', "#sdy.sharding", "") ||
      !read_optional_dict(s, &d.attributes) || !s.in.expect(':') ||
      !read_type(s, &d.result_types.emplace_back())) {
    return false;
  }
  return match_operand_types(s, d, d.result_types);
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

}  // namespace

PrettyReader pretty_sharding_reader(std::string_view name) {
  if (name == "sdy.sharding_constraint" || name == "sdy.reshard") return read_constraint;
  if (name == "sdy.manual_computation") return read_manual_computation;
  return name == "sdy.return" ? read_pretty_return : nullptr;
}

}  // namespace millrace::devices::stablehlo::text
