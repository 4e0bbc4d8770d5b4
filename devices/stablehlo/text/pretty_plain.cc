// The short forms of operations that are operands, a few named attributes and a type.
#include "millrace/devices/stablehlo/text/pretty.h"

#include <charconv>
#include <initializer_list>

#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

using ir::OpKind;

using ValueReader = bool (*)(State&, ir::Attribute*);

bool read_int(State& s, ir::Attribute* out) {
  std::int64_t value = 0;
  if (!s.in.integer(&value)) return false;
  *out = make_int(s, value);
  return true;
}

bool read_ints(State& s, ir::Attribute* out) {
  std::vector<std::int64_t> values;
  if (!s.in.int_list(&values)) return false;
  *out = make_ints(s, values);
  return true;
}

bool read_flag(State& s, ir::Attribute* out) {
  bool value = false;
  if (!s.in.boolean(&value)) return false;
  *out = s.module.attribute(ir::BoolAttr{{}, value});
  return true;
}

bool read_text(State& s, ir::Attribute* out) {
  std::string value;
  if (!s.in.string(&value)) return false;
  *out = make_string(s, value);
  return true;
}

template <ir::EnumClass E>
bool read_enum(State& s, ir::Attribute* out) {
  return read_enum_word(s, E, out);
}

// "word = value": name in the text, name of the attribute.
struct Field {
  std::string_view word;
  std::string_view attribute;
  ValueReader read;
};

bool read_field(State& s, Draft& d, const Field& field) {
  ir::Attribute value;
  if (!s.in.expect_field(field.word) || !field.read(s, &value)) return false;
  add(s, d, field.attribute, value);
  return true;
}

// "%a, %b, dim = 3, low = [1]": operands and fields.
bool read_fields(State& s, Draft& d, std::initializer_list<Field> fields) {
  bool comma = false;
  if (!read_operands(s, &d.operands, &comma)) return false;
  if (!comma) return s.in.unexpected("','");
  for (const Field& field : fields) {
    if ((&field != fields.begin() && !s.in.expect(',')) || !read_field(s, d, field)) return false;
  }
  return true;
}

// "{attributes} : signature", or types in short form, of which complete(&types) makes those of the
// operands and of the result.
template <class Complete>
bool read_short_tail(State& s, Draft& d, Complete complete) {
  if (!read_optional_dict(s, &d.attributes) || !s.in.expect(':')) return false;
  std::vector<ir::Type> types;
  if (s.in.token().is('(')) {
    return read_function_type(s, &types, &d.result_types) && match_operand_types(s, d, types);
  }
  return read_types(s, &types) && complete(&types) && match_operand_types(s, d, types);
}

// One type for all operands and the result.
bool read_same_type_tail(State& s, Draft& d) {
  return read_short_tail(s, d, [&](std::vector<ir::Type>* types) {
    if (types->size() != 1) return s.in.fail_at(d.location, "expected one type");
    d.result_types = *types;
    types->assign(d.operands.size(), d.result_types[0]);
    return true;
  });
}

bool expect_operands(State& s, const Draft& d, std::size_t n) {
  return d.operands.size() == n ||
         s.in.fail_at(d.location, "found " + std::to_string(d.operands.size()) +
                                      " operands, expected " + std::to_string(n));
}

// "%a, %b {attributes} : T" with a fixed number of operands.
template <int N>
bool read_elementwise(State& s, Draft& d) {
  return read_operands(s, &d.operands) && read_same_type_tail(s, d) && expect_operands(s, d, N);
}

// "%r, %i : tensor<2xcomplex<f32>>": the operands are the parts of the result.
bool read_complex(State& s, Draft& d) {
  return read_operands(s, &d.operands) && read_short_tail(s, d, [&](std::vector<ir::Type>* types) {
           const ir::Type type = types->front();
           if (types->size() != 1 || !type.is_tensor() || !is_complex(type.dtype()))
             return s.in.fail_at(d.location, "expected a tensor of complex elements");
           const DType part = type.dtype() == DType::kC64 ? DType::kF32 : DType::kF64;
           d.result_types = *types;
           types->assign(
               d.operands.size(),
               s.module.types().tensor(type.dims(), s.module.types().scalar(part), type.bounds()));
           return true;
         });
}

// "%p, %a, %b : P, T" or a signature.
bool read_select(State& s, Draft& d) {
  return read_operands(s, &d.operands) && read_short_tail(s, d, [&](std::vector<ir::Type>* types) {
           if (types->size() != 2)
             return s.in.fail_at(d.location, "expected the types of predicate and values");
           types->push_back(types->back());
           d.result_types.push_back(types->back());
           return true;
         });
}

bool read_compare(State& s, Draft& d) {
  ir::Attribute direction;
  bool comma = false;
  if (!read_enum_word(s, ir::EnumClass::kComparisonDirection, &direction) || !s.in.expect(',') ||
      !read_operands(s, &d.operands, &comma)) {
    return false;
  }
  add(s, d, "comparison_direction", direction);
  if (comma) {
    ir::Attribute type;
    if (!read_enum_word(s, ir::EnumClass::kComparisonType, &type)) return false;
    add(s, d, "compare_type", type);
  }
  return read_tail(s, d);
}

// "dense<...> : T"; quantised constants are "() <{value = ...}> : () -> T".
bool read_constant(State& s, Draft& d) {
  if (s.in.accept('(')) {
    if (!s.in.expect(')')) return false;
    if (s.in.accept('<') && (!read_attribute_dict(s, &d.attributes) || !s.in.expect('>')))
      return false;
    return read_tail(s, d);
  }
  ir::Attribute value;
  if (!read_optional_dict(s, &d.attributes) || !read_attribute(s, &value)) return false;
  add(s, d, "value", value);
  const auto* dense = value.as<ir::DenseAttr>();
  if (dense != nullptr) {
    d.result_types.push_back(dense->type);
    return true;
  }
  return s.in.fail_at(d.location, "the value is no dense literal that can be stored; write \"" +
                                      std::string(d.name) + "\"() {value = ...} : () -> T");
}

// "dim = 0 : T"
bool read_iota(State& s, Draft& d) {
  return read_field(s, d, {"dim", "iota_dimension", read_int}) &&
         read_optional_dict(s, &d.attributes) && s.in.expect(':') &&
         read_type(s, &d.result_types.emplace_back());
}

// "%a, dim = 0 : signature" and its like, by the op.
bool read_int_tail(State& s, Draft& d) {
  const std::string_view attribute =
      d.kind == OpKind::kDynamicIota ? "iota_dimension" : "dimension";
  return read_fields(s, d, {{"dim", attribute, read_int}}) && read_tail(s, d);
}

bool read_ints_tail(State& s, Draft& d) {
  const Field field = d.kind == OpKind::kBroadcast ? Field{"sizes", "broadcast_sizes", read_ints}
                      : d.kind == OpKind::kDynamicSlice ? Field{"sizes", "slice_sizes", read_ints}
                      : d.kind == OpKind::kTranspose
                          ? Field{"dims", "permutation", read_ints}
                          : Field{"dims", "broadcast_dimensions", read_ints};
  return read_fields(s, d, {field}) && read_tail(s, d);
}

// "%a, type = RFFT, length = [16] : signature"
bool read_pretty_fft(State& s, Draft& d) {
  return read_fields(s, d,
                     {{"type", "fft_type", read_enum<ir::EnumClass::kFftType>},
                      {"length", "fft_length", read_ints}}) &&
         read_tail(s, d);
}

// "%a, %v, low = [1], high = [0], interior = [0] : signature"
bool read_pretty_pad(State& s, Draft& d) {
  return read_fields(s, d,
                     {{"low", "edge_padding_low", read_ints},
                      {"high", "edge_padding_high", read_ints},
                      {"interior", "interior_padding", read_ints}}) &&
         read_tail(s, d);
}

bool read_reverse(State& s, Draft& d) {
  return read_fields(s, d, {{"dims", "dimensions", read_ints}}) && read_same_type_tail(s, d) &&
         expect_operands(s, d, 1);
}

bool read_cholesky(State& s, Draft& d) {
  bool lower = false;
  if (!read_operands(s, &d.operands, &lower)) return false;
  if (lower && !read_field(s, d, {"lower", "lower", read_flag})) return false;
  return read_same_type_tail(s, d) && expect_operands(s, d, 1);
}

// e5m10
bool parse_format(std::string_view text, int* exponent, int* mantissa) {
  const char* const end = text.data() + text.size();
  if (!text.starts_with('e')) return false;
  const auto first = std::from_chars(text.data() + 1, end, *exponent);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'm') return false;
  const auto second = std::from_chars(first.ptr + 1, end, *mantissa);
  return second.ec == std::errc() && second.ptr == end && *exponent >= 0 && *mantissa >= 0;
}

// "%a, format = e5m10 : T"
bool read_reduce_precision(State& s, Draft& d) {
  int exponent = 0;
  int mantissa = 0;
  if (!read_fields(s, d, {}) || !s.in.expect_field("format")) return false;
  const Token word = s.in.token();
  if (word.kind != TokenKind::kBareId || !parse_format(word.text, &exponent, &mantissa)) {
    return s.in.unexpected("a format such as e5m10");
  }
  s.in.advance();
  add(s, d, "exponent_bits", make_int(s, exponent, DType::kI32));
  add(s, d, "mantissa_bits", make_int(s, mantissa, DType::kI32));
  return read_same_type_tail(s, d) && expect_operands(s, d, 1);
}

bool read_rng(State& s, Draft& d) {
  constexpr auto kEnum = ir::EnumClass::kRngDistribution;
  return read_fields(s, d, {{"distribution", "rng_distribution", read_enum<kEnum>}}) &&
         read_tail(s, d);
}

bool read_rng_bit_generator(State& s, Draft& d) {
  constexpr auto kEnum = ir::EnumClass::kRngAlgorithm;
  return read_fields(s, d, {{"algorithm", "rng_algorithm", read_enum<kEnum>}}) && read_tail(s, d);
}

bool read_einsum(State& s, Draft& d) {
  return read_fields(s, d, {{"config", "einsum_config", read_text}}) && read_tail(s, d);
}

// "%a, %b : tuple<T, U>"
bool read_tuple(State& s, Draft& d) {
  return read_operands(s, &d.operands) && read_short_tail(s, d, [&](std::vector<ir::Type>* types) {
           d.result_types = *types;
           if (types->size() != 1 || types->front().kind() != ir::TypeKind::kTuple)
             return s.in.fail_at(d.location, "the type is no tuple");
           const auto members = d.result_types[0].members();
           types->assign(members.begin(), members.end());
           return true;
         });
}

// "%t[0] : signature"
bool read_get_tuple_element(State& s, Draft& d) {
  std::int64_t index = 0;
  if (!read_operand(s, &d.operands) || !s.in.expect('[') || !s.in.integer(&index) ||
      !s.in.expect(']'))
    return false;
  add(s, d, "index", make_int(s, index, DType::kI32));
  return read_tail(s, d);
}

// "%t, %u : !stablehlo.token": the result has the type of the operands, of which there may be none.
bool read_token_op(State& s, Draft& d) {
  return read_operands(s, &d.operands) && read_same_type_tail(s, d);
}

// "%a, %b : T, U", the results like the operands; "()" for none of them.
bool read_barrier(State& s, Draft& d) {
  if (!read_optional_dict(s, &d.attributes)) return false;
  if (s.in.accept('(')) return s.in.expect(')');
  if (!read_operands(s, &d.operands) || !read_optional_dict(s, &d.attributes)) return false;
  if (d.operands.empty()) return true;
  return s.in.expect(':') && read_types(s, &d.result_types) &&
         match_operand_types(s, d, d.result_types);
}

// Operands, attributes, signature.
bool read_plain(State& s, Draft& d) { return read_operands(s, &d.operands) && read_tail(s, d); }

}  // namespace

void add(State& s, Draft& draft, std::string_view name, ir::Attribute value) {
  draft.attributes.push_back({s.module.intern(name), value});
}

bool read_tail(State& s, Draft& draft) {
  return read_optional_dict(s, &draft.attributes) && read_signature(s, draft);
}

PrettyReader pretty_reader(OpKind kind) {
  static constexpr PrettyReader kReaders[] = {
      nullptr,
#define MILLRACE_OP_READER(kind, reader) reader,
#include "millrace/devices/stablehlo/ir/ops.inc"
  };
  return kReaders[static_cast<std::size_t>(kind)];
}

}  // namespace millrace::devices::stablehlo::text
