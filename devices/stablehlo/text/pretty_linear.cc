// Short forms with several lists of numbers: dot_general, convolution, slice.
#include <algorithm>
#include <cstring>

#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"

namespace millrace::devices::stablehlo::text {
namespace {

using ir::Attribute;
using Values = std::vector<std::int64_t>;

// "= [0] x [1]"
bool read_pair(State& s, Values* left, Values* right) {
  return s.in.expect('=') && s.in.int_list(left) && s.in.expect_word("x") && s.in.int_list(right);
}

// "[[1, 1], [0, 2]]": two numbers for each window dimension, as tensor<Nx2xi64>.
bool read_padding(State& s, Attribute* out) {
  Values flat, pair;
  const bool good = s.in.list('[', ']', [&] {
    const ir::Location where = s.in.location();
    if (!s.in.int_list(&pair)) return false;
    flat.insert(flat.end(), pair.begin(), pair.end());
    return pair.size() == 2 || s.in.fail_at(where, "padding is two numbers for each dimension");
  });
  if (!good) return false;
  // Equal numbers are a splat, as in what MLIR prints of them in the long form.
  const auto rows = static_cast<std::int64_t>(flat.size() / 2);
  const bool splat = !flat.empty() && std::ranges::count(flat, flat[0]) == std::ssize(flat);
  if (splat) flat.resize(1);
  const std::size_t size = flat.size() * sizeof(std::int64_t);
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
  if (size != 0) std::memcpy(bytes.get(), flat.data(), size);
  const ir::Type type = s.module.types().tensor({rows, 2}, DType::kI64);
  return give(out, s.module.dense(type, splat, std::move(bytes), size));
}

// "[true, 0]"
bool read_flags(State& s, Attribute* out) {
  Values values;
  return s.in.list('[', ']', [&] {
    bool flag = false;
    std::int64_t& value = values.emplace_back();
    const bool word = s.in.token().kind == TokenKind::kBareId;
    if (!(word ? s.in.boolean(&flag) : s.in.integer(&value))) return false;
    return give(&value, flag || value != 0);
  }) && give(out, make_ints(s, values, DType::kI1));
}

// A field of "{stride = [2], pad = [[1, 1]]}"
bool read_window_field(State& s, Draft& d) {
  struct Field {
    std::string_view word, attribute;
    ValueReader read;
  };
  constexpr Field kFields[] = {
      {"stride", "window_strides", read_ints},    {"pad", "padding", read_padding},
      {"lhs_dilate", "lhs_dilation", read_ints},  {"rhs_dilate", "rhs_dilation", read_ints},
      {"reverse", "window_reversal", read_flags},
  };
  for (const auto& [word, attribute, read] : kFields) {
    if (s.in.accept_word(word)) return s.in.expect('=') && read_value(s, d, attribute, read);
  }
  return s.in.unexpected("stride, pad, lhs_dilate, rhs_dilate or reverse");
}

bool read_dot_field(State& s, Draft& d, Values (&dims)[4]) {
  if (s.in.accept_word("batching_dims")) return read_pair(s, &dims[0], &dims[1]);
  if (s.in.accept_word("contracting_dims")) return read_pair(s, &dims[2], &dims[3]);
  if (s.in.accept_word("precision"))
    return s.in.expect('=') && read_value(s, d, "precision_config", read_precision);
  if (s.in.accept_word("algorithm")) {
    return s.in.expect('=') &&
           read_value(s, d, "algorithm",
                      s.in.token().is('<') ? read_dot_algorithm : read_attribute);
  }
  return s.in.unexpected("batching_dims, contracting_dims, precision or algorithm");
}

bool read_conv_field(State& s, Draft& d) {
  if (s.in.accept_word("window")) {
    return s.in.expect('=') && s.in.list('{', '}', [&] { return read_window_field(s, d); });
  }
  return s.in.accept_word("precision")
             ? s.in.expect('=') && read_value(s, d, "precision_config", read_precision)
             : s.in.unexpected("window or precision");
}

}  // namespace

bool read_pretty_dot_general(State& s, Draft& d) {
  Values dims[4];
  bool more = false;
  if (!read_operands(s, &d.operands, &more)) return false;
  if (more && !s.in.commas([&] { return read_dot_field(s, d, dims); })) return false;
  add(s, d, "dot_dimension_numbers",
      s.module.attribute(
          ir::DotDimsAttr{{}, s.keep(dims[0]), s.keep(dims[1]), s.keep(dims[2]), s.keep(dims[3])}));
  return read_tail(s, d);
}

bool read_pretty_convolution(State& s, Draft& d) {
  return read_operand_tuple(s, &d.operands) && s.in.expect_field("dim_numbers") &&
         read_value(s, d, "dimension_numbers",
                    s.in.token().is('[') ? read_conv_dims : read_attribute) &&
         (!s.in.accept(',') || s.in.commas([&] { return read_conv_field(s, d); })) &&
         read_tail(s, d);
}

// "%a [0:2, 1:8:3] : signature"
bool read_pretty_slice(State& s, Draft& d) {
  Values starts, limits, strides;
  const bool good = read_operand(s, &d.operands) && s.in.list('[', ']', [&] {
    strides.push_back(1);
    return s.in.integer(&starts.emplace_back()) && s.in.expect(':') &&
           s.in.integer(&limits.emplace_back()) &&
           (!s.in.accept(':') || s.in.integer(&strides.back()));
  });
  if (!good) return false;
  add(s, d, "start_indices", make_ints(s, starts));
  add(s, d, "limit_indices", make_ints(s, limits));
  add(s, d, "strides", make_ints(s, strides));
  return read_tail(s, d);
}

}  // namespace millrace::devices::stablehlo::text
