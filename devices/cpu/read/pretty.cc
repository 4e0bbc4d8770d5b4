// The table of short forms, and the forms of operations that are operands, a few named attributes
// and a type.
#include "millrace/devices/cpu/read/pretty.h"

#include <array>
#include <charconv>

#include "millrace/devices/cpu/read/attributes.h"
#include "millrace/devices/cpu/read/ops.h"
#include "millrace/devices/cpu/read/types.h"

namespace millrace::devices::cpu::read {
namespace {

using ir::OpKind;

// ", dim = 3": name in the text, name of the attribute.
bool read_int_field(State& s, Draft& d, std::string_view word, std::string_view attribute) {
  std::int64_t value = 0;
  if (!s.in.expect_word(word) || !s.in.expect('=') || !s.in.integer(&value)) return false;
  add(s, d, attribute, make_int(s, value));
  return true;
}

bool read_ints_field(State& s, Draft& d, std::string_view word, std::string_view attribute) {
  std::vector<std::int64_t> values;
  if (!s.in.expect_word(word) || !s.in.expect('=') || !s.in.int_list(&values)) return false;
  add(s, d, attribute, make_ints(s, values));
  return true;
}

// Operands, and the comma behind them that leads to a field.
bool read_operands_and_comma(State& s, Draft& d) {
  bool comma = false;
  if (!read_operands(s, &d.operands, &comma)) return false;
  return comma || s.in.unexpected("','");
}

// "%a, %b {attributes} : T" with one type for all operands and the result, or a signature.
bool read_same_type(State& s, Draft& d) {
  if (!read_operands(s, &d.operands) || !read_optional_dict(s, &d.attributes)) return false;
  if (!s.in.expect(':')) return false;
  std::vector<ir::Type> types;
  if (s.in.token().is('(')) {
    return read_function_type(s, &types, &d.result_types) && match_operand_types(s, d, types);
  }
  ir::Type type;
  if (!read_type(s, &type)) return false;
  types.assign(d.operands.size(), type);
  d.result_types.push_back(type);
  return match_operand_types(s, d, types);
}

// The same with a fixed number of operands.
template <int N>
bool read_elementwise(State& s, Draft& d) {
  if (!read_same_type(s, d)) return false;
  return d.operands.size() == N ||
         s.in.fail_at(d.location, "found " + std::to_string(d.operands.size()) +
                                      " operands, expected " + std::to_string(N));
}

// "%r, %i : tensor<2xcomplex<f32>>": the operands are the parts of the result.
bool read_complex(State& s, Draft& d) {
  if (!read_operands(s, &d.operands) || !read_optional_dict(s, &d.attributes) || !s.in.expect(':'))
    return false;
  std::vector<ir::Type> types;
  if (s.in.token().is('(')) {
    return read_function_type(s, &types, &d.result_types) && match_operand_types(s, d, types);
  }
  ir::Type type;
  if (!read_type(s, &type)) return false;
  if (!type.is_tensor() || !is_complex(type.dtype()))
    return s.in.fail_at(d.location, "expected a tensor of complex elements");
  const DType part = type.dtype() == DType::kC64 ? DType::kF32 : DType::kF64;
  types.assign(d.operands.size(),
               s.module.types().tensor(type.dims(), s.module.types().scalar(part), type.bounds()));
  d.result_types.push_back(type);
  return match_operand_types(s, d, types);
}

// "%p, %a, %b : P, T" or a signature.
bool read_select(State& s, Draft& d) {
  if (!read_operands(s, &d.operands) || !read_optional_dict(s, &d.attributes) || !s.in.expect(':'))
    return false;
  std::vector<ir::Type> types;
  if (s.in.token().is('(')) {
    return read_function_type(s, &types, &d.result_types) && match_operand_types(s, d, types);
  }
  if (!read_types(s, &types)) return false;
  if (types.size() != 2)
    return s.in.fail_at(d.location, "expected the types of predicate and values");
  types.push_back(types[1]);
  d.result_types.push_back(types[1]);
  return match_operand_types(s, d, types);
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
  if (!read_int_field(s, d, "dim", "iota_dimension") || !read_optional_dict(s, &d.attributes) ||
      !s.in.expect(':'))
    return false;
  return read_type(s, &d.result_types.emplace_back());
}

// "%a, dim = 0 : signature" and its like, by the op.
bool read_int_tail(State& s, Draft& d) {
  const std::string_view attribute =
      d.kind == OpKind::kDynamicIota ? "iota_dimension" : "dimension";
  return read_operands_and_comma(s, d) && read_int_field(s, d, "dim", attribute) && read_tail(s, d);
}

bool read_ints_tail(State& s, Draft& d) {
  std::string_view word = "dims";
  std::string_view attribute = "broadcast_dimensions";
  if (d.kind == OpKind::kBroadcast) {
    word = "sizes";
    attribute = "broadcast_sizes";
  } else if (d.kind == OpKind::kDynamicSlice) {
    word = "sizes";
    attribute = "slice_sizes";
  } else if (d.kind == OpKind::kTranspose) {
    attribute = "permutation";
  }
  return read_operands_and_comma(s, d) && read_ints_field(s, d, word, attribute) && read_tail(s, d);
}

// Operands, then "name = value" fields, then one type for operand and result.
bool read_one_type_tail(State& s, Draft& d) {
  if (!read_optional_dict(s, &d.attributes) || !s.in.expect(':')) return false;
  if (s.in.token().is('(')) {
    std::vector<ir::Type> types;
    return read_function_type(s, &types, &d.result_types) && match_operand_types(s, d, types);
  }
  ir::Type type;
  if (!read_type(s, &type)) return false;
  d.result_types.push_back(type);
  return match_operand_types(s, d, {&type, 1});
}

bool read_reverse(State& s, Draft& d) {
  return read_operands_and_comma(s, d) && read_ints_field(s, d, "dims", "dimensions") &&
         read_one_type_tail(s, d);
}

bool read_cholesky(State& s, Draft& d) {
  bool lower = false;
  if (!read_operands(s, &d.operands, &lower)) return false;
  if (lower) {
    if (!s.in.expect_word("lower") || !s.in.expect('=') || !s.in.boolean(&lower)) return false;
    add(s, d, "lower", s.module.attribute(ir::BoolAttr{{}, lower}));
  }
  return read_one_type_tail(s, d);
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
  if (!read_operands_and_comma(s, d) || !s.in.expect_word("format") || !s.in.expect('='))
    return false;
  int exponent = 0;
  int mantissa = 0;
  const Token word = s.in.token();
  if (word.kind != TokenKind::kBareId || !parse_format(word.text, &exponent, &mantissa)) {
    return s.in.unexpected("a format such as e5m10");
  }
  s.in.advance();
  add(s, d, "exponent_bits", make_int(s, exponent, DType::kI32));
  add(s, d, "mantissa_bits", make_int(s, mantissa, DType::kI32));
  return read_one_type_tail(s, d);
}

bool read_rng(State& s, Draft& d) {
  ir::Attribute distribution;
  if (!read_operands_and_comma(s, d) || !s.in.expect_word("distribution") || !s.in.expect('=') ||
      !read_enum_word(s, ir::EnumClass::kRngDistribution, &distribution)) {
    return false;
  }
  add(s, d, "rng_distribution", distribution);
  return read_tail(s, d);
}

bool read_rng_bit_generator(State& s, Draft& d) {
  ir::Attribute algorithm;
  if (!read_operands_and_comma(s, d) || !s.in.expect_word("algorithm") || !s.in.expect('=') ||
      !read_enum_word(s, ir::EnumClass::kRngAlgorithm, &algorithm)) {
    return false;
  }
  add(s, d, "rng_algorithm", algorithm);
  return read_tail(s, d);
}

bool read_einsum(State& s, Draft& d) {
  std::string config;
  if (!read_operands_and_comma(s, d) || !s.in.expect_word("config") || !s.in.expect('=') ||
      !s.in.string(&config))
    return false;
  add(s, d, "einsum_config", make_string(s, config));
  return read_tail(s, d);
}

// "%a, %b : tuple<T, U>"
bool read_tuple(State& s, Draft& d) {
  if (!read_operands(s, &d.operands) || !read_optional_dict(s, &d.attributes) || !s.in.expect(':'))
    return false;
  ir::Type type;
  if (!read_type(s, &type)) return false;
  if (type.kind() != ir::TypeKind::kTuple) return s.in.fail_at(d.location, "the type is no tuple");
  d.result_types.push_back(type);
  return match_operand_types(s, d, type.members());
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
  if (!read_operands(s, &d.operands) || !read_optional_dict(s, &d.attributes) || !s.in.expect(':'))
    return false;
  ir::Type type;
  if (!read_type(s, &type)) return false;
  d.result_types.push_back(type);
  const std::vector<ir::Type> types(d.operands.size(), type);
  return match_operand_types(s, d, types);
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

struct Entry {
  PrettyReader reader;
  std::initializer_list<OpKind> kinds;
};

std::array<PrettyReader, ir::kOpKinds> make_table() {
  using K = OpKind;
  const Entry entries[] = {
      {read_elementwise<1>,
       {K::kAbs,
        K::kCbrt,
        K::kCeil,
        K::kConvert,
        K::kCosine,
        K::kCountLeadingZeros,
        K::kExponential,
        K::kExponentialMinusOne,
        K::kFloor,
        K::kImag,
        K::kIsFinite,
        K::kLog,
        K::kLogPlusOne,
        K::kLogistic,
        K::kNegate,
        K::kNot,
        K::kPopcnt,
        K::kReal,
        K::kRoundNearestAfz,
        K::kRoundNearestEven,
        K::kRsqrt,
        K::kSign,
        K::kSine,
        K::kSqrt,
        K::kTan,
        K::kTanh,
        K::kUniformQuantize,
        K::kUniformDequantize}},
      {read_elementwise<2>,
       {K::kAdd, K::kAnd, K::kAtan2, K::kDivide, K::kMaximum, K::kMinimum, K::kMultiply, K::kOr,
        K::kPower, K::kRemainder, K::kShiftLeft, K::kShiftRightArithmetic, K::kShiftRightLogical,
        K::kSubtract, K::kXor}},
      {read_elementwise<3>, {K::kClamp}},
      {read_complex, {K::kComplex}},
      {read_select, {K::kSelect}},
      {read_compare, {K::kCompare}},
      {read_constant, {K::kConstant, K::kChloConstant}},
      {read_iota, {K::kIota}},
      {read_int_tail,
       {K::kDynamicIota, K::kConcatenate, K::kGetDimensionSize, K::kSetDimensionSize}},
      {read_ints_tail,
       {K::kBroadcastInDim, K::kTranspose, K::kBroadcast, K::kDynamicBroadcastInDim,
        K::kDynamicSlice}},
      {read_plain,
       {K::kReshape, K::kBitcastConvert, K::kDynamicReshape, K::kDynamicUpdateSlice, K::kDynamicPad,
        K::kRealDynamicSlice}},
      {read_reverse, {K::kReverse}},
      {read_cholesky, {K::kCholesky}},
      {read_reduce_precision, {K::kReducePrecision}},
      {read_rng, {K::kRng}},
      {read_rng_bit_generator, {K::kRngBitGenerator}},
      {read_einsum, {K::kEinsum, K::kUnaryEinsum}},
      {read_tuple, {K::kTuple}},
      {read_get_tuple_element, {K::kGetTupleElement}},
      {read_token_op, {K::kAfterAll, K::kCreateToken, K::kReplicaId, K::kPartitionId}},
      {read_barrier, {K::kOptimizationBarrier}},
      {read_pretty_reduce, {K::kReduce}},
      {read_pretty_while, {K::kWhile}},
      {read_pretty_custom_call, {K::kCustomCall}},
      {read_pretty_composite, {K::kComposite}},
      {read_pretty_call, {K::kCall}},
      {read_pretty_return, {K::kReturn, K::kFuncReturn}},
      {read_pretty_dot_general, {K::kDotGeneral}},
      {read_pretty_dot, {K::kDot}},
      {read_pretty_convolution, {K::kConvolution}},
      {read_pretty_fft, {K::kFft}},
      {read_pretty_slice, {K::kSlice}},
      {read_pretty_pad, {K::kPad}},
      {read_pretty_top_k, {K::kChloTopK}},
  };
  std::array<PrettyReader, ir::kOpKinds> table{};
  for (const Entry& e : entries) {
    for (OpKind kind : e.kinds) table[static_cast<std::size_t>(kind)] = e.reader;
  }
  for (int i = 1; i < ir::kOpKinds; ++i) {
    auto& reader = table[static_cast<std::size_t>(i)];
    if (reader == nullptr && to_string(static_cast<OpKind>(i)).starts_with("chlo."))
      reader = read_pretty_chlo;
  }
  return table;
}

}  // namespace

void add(State& s, Draft& draft, std::string_view name, ir::Attribute value) {
  draft.attributes.push_back({s.module.intern(name), value});
}

bool read_tail(State& s, Draft& draft) {
  return read_optional_dict(s, &draft.attributes) && read_signature(s, draft);
}

PrettyReader pretty_reader(OpKind kind) {
  static const std::array<PrettyReader, ir::kOpKinds> table = make_table();
  return table[static_cast<std::size_t>(kind)];
}

}  // namespace millrace::devices::cpu::read
