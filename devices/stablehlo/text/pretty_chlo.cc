// Short forms of CHLO: "chlo.erf %a : T -> U", "chlo.next_after %a, %b : T, U -> V" and top_k.
#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/pretty.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

// ": T, U -> V", ": T -> (U, V)" or a signature with brackets; without an arrow all types are the
// same.
bool read_chlo_types(State& s, Draft& d) {
  if (!s.in.expect(':')) return false;
  std::vector<ir::Type> types;
  if (s.in.token().is('(')) {
    if (!read_type_tuple(s, &types)) return false;
  } else if (!read_types(s, &types)) {
    return false;
  }
  if (!s.in.accept(TokenKind::kArrow)) {
    if (types.size() != 1) return s.in.unexpected("'->'");
    d.result_types.push_back(types[0]);
    types.resize(std::max<std::size_t>(d.operands.size(), 1), types[0]);
    return match_operand_types(s, d, types);
  }
  if (s.in.token().is('(')) {
    if (!read_type_tuple(s, &d.result_types)) return false;
  } else if (!read_type(s, &d.result_types.emplace_back())) {
    return false;
  }
  return match_operand_types(s, d, types);
}

}  // namespace

bool read_pretty_chlo(State& s, Draft& d) {
  return read_operands(s, &d.operands) && read_optional_dict(s, &d.attributes) &&
         read_chlo_types(s, d);
}

// "(%a, k = 2)"
bool read_pretty_top_k(State& s, Draft& d) {
  std::int64_t k = 0;
  if (!s.in.expect('(') || !read_operand(s, &d.operands) || !s.in.expect(',') ||
      !s.in.expect_field("k") || !s.in.integer(&k) || !s.in.expect(')')) {
    return false;
  }
  add(s, d, "k", make_int(s, k));
  return read_optional_dict(s, &d.attributes) && read_chlo_types(s, d);
}

}  // namespace millrace::devices::stablehlo::text
