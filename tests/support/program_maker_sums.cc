// What adds elements up, in an order of its own, and what sorts them.
#include <algorithm>
#include <cmath>

#include "tests/support/program_maker.h"

namespace millrace::testing {

using devices::DType;
using Kind = ProgramAttribute::Kind;
using Numbers = std::vector<std::int64_t>;

namespace {

std::string number_list(const Numbers& numbers) {
  std::string text = "[";
  for (const std::int64_t n : numbers) text += (text == "[" ? "" : ", ") + std::to_string(n);
  return text + "]";
}

ProgramAttribute text(std::string name, std::string value) {
  return {std::move(name), Kind::kText, {}, std::move(value)};
}

// The smallest and the largest number of a type, as a literal.
std::string extreme(DType dtype, bool largest) {
  switch (dtype) {
    case DType::kF16:
      return largest ? "0x7C00" : "0xFC00";
    case DType::kBF16:
      return largest ? "0x7F80" : "0xFF80";
    case DType::kF32:
      return largest ? "0x7F800000" : "0xFF800000";
    case DType::kF64:
      return largest ? "0x7FF0000000000000" : "0xFFF0000000000000";
    default:
      break;
  }
  const int bits = devices::bit_width(dtype);
  if (devices::is_unsigned_integer(dtype))
    return largest ? std::to_string(~std::uint64_t{0} >> (64 - bits)) : "0";
  const auto most = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
  return std::to_string(largest ? most : -most - 1);
}

}  // namespace

// In any order the same, but for rounding.
std::optional<ProgramMaker::Body> ProgramMaker::random_body(int operand) {
  const DType dtype = type(operand).dtype;
  if (devices::is_complex(dtype)) return std::nullopt;
  if (dtype == DType::kI1)
    return one_of<Body>({{"or", "false"}, {"and", "true"}, {"xor", "false"}});
  // Half-precision sums are rounded at every step by one device and at the end by another.
  const bool narrow = dtype == DType::kF16 || dtype == DType::kBF16;
  const bool extremes = narrow || !facts(operand).exact || chance(40);
  if (devices::is_floating(dtype)) {
    if (!narrow && (chance(60) || !extremes) && facts(operand).bound < 1e4)
      return Body{"add", "0.0"};
    // A NaN among the elements is lost by XLA, while an extreme of two keeps it.
    if (!facts(operand).clean) return std::nullopt;
    return one_of<Body>({{"maximum", extreme(dtype, false)}, {"minimum", extreme(dtype, true)}});
  }
  const std::string ones = devices::is_unsigned_integer(dtype) ? extreme(dtype, true) : "-1";
  return one_of<Body>({{"add", "0"},
                       {"multiply", "1"},
                       {"or", "0"},
                       {"xor", "0"},
                       {"maximum", extreme(dtype, false)},
                       {"minimum", extreme(dtype, true)},
                       {"and", ones}});
}

ProgramBlock ProgramMaker::body_block(const Body& body, DType dtype) {
  const TensorType scalar{dtype, {}};
  const int a = program_.add_value(scalar);
  const int b = program_.add_value(scalar);
  const int c = program_.add_value(scalar);
  facts_.resize(program_.types.size());
  const bool swapped = chance(50);
  ProgramBlock block{.parameters = {a, b}};
  block.steps.push_back({body.op, {swapped ? b : a, swapped ? a : b}, {c}});
  block.results = {c};
  if (dtype != DType::kI1 && chance(15)) {  // the long way round to the same
    const int d = program_.add_value(scalar);
    facts_.resize(program_.types.size());
    block.steps.push_back({"maximum", {c, c}, {d}});
    block.results = {d};
  }
  return block;
}

ProgramMaker::Facts ProgramMaker::summed(int operand, const Body& body, double count) {
  Facts f = facts(operand);
  if (devices::is_floating(type(operand).dtype)) {
    if (body.op == "add") {
      f.exact = false;
      f.bound = f.bound * std::max(count, 1.0);
    }
    // Where there is nothing to add up, an extreme is infinite.
    if (body.op != "add") f.bound = count > 0 ? f.bound : HUGE_VAL;
  } else {
    f.bound = HUGE_VAL;
  }
  return f;
}

void ProgramMaker::reduce() {
  const auto found = pick([this](int v) { return rank(v) > 0; });
  if (!found) return;
  const auto body = random_body(*found);
  if (!body) return;
  Numbers reduced, kept;
  double count = 1;
  for (int d = 0; d < rank(*found); ++d) {
    const std::int64_t size = type(*found).dims[static_cast<std::size_t>(d)];
    if (chance(60)) {
      reduced.push_back(d);
      count *= static_cast<double>(size);
    } else {
      kept.push_back(size);
    }
  }
  const DType dtype = type(*found).dtype;
  const int start = splat({dtype, {}}, body->start, 4);
  emit("reduce", {*found, start}, {dtype, kept}, summed(*found, *body, count),
       {{"dimensions", Kind::kArray, reduced}}, {body_block(*body, dtype)});
}

void ProgramMaker::reduce_window() {
  const auto found = pick([this](int v) { return rank(v) > 0 && rank(v) <= 4; });
  if (!found) return;
  auto body = random_body(*found);
  if (!body) return;
  Numbers window, stride, base, dilation, padding, result;
  double count = 1;
  for (const std::int64_t size : type(*found).dims) {
    window.push_back(1 + below(3));
    stride.push_back(1 + below(2));
    base.push_back(chance(80) ? 1 : 2);
    dilation.push_back(chance(80) ? 1 : 2);
    padding.push_back(below(3));
    padding.push_back(below(3));
    const std::int64_t stretched = size == 0 ? 0 : (size - 1) * base.back() + 1;
    const std::int64_t whole = stretched + padding[padding.size() - 2] + padding.back();
    const std::int64_t reach = (window.back() - 1) * dilation.back() + 1;
    result.push_back(whole < reach ? 0 : (whole - reach) / stride.back() + 1);
    count *= static_cast<double>(window.back());
  }
  const DType dtype = type(*found).dtype;
  // Where padding would be seen. No chance: those of the operations to come stay what they are.
  if (body->op == "add" && program_.types.size() % 2 == 0) {
    body->start = devices::is_floating(dtype) ? "1.0" : "1";
    count += 1;
  }
  const int start = splat({dtype, {}}, body->start, 4);
  // A window may lie in the padding.
  if (body->op != "add") count = 0;
  emit("reduce_window", {*found, start}, {dtype, result}, summed(*found, *body, count),
       {{"window_dimensions", Kind::kArray, window},
        {"window_strides", Kind::kArray, stride},
        {"base_dilations", Kind::kArray, base},
        {"window_dilations", Kind::kArray, dilation},
        {"padding", Kind::kPairs, padding}},
       {body_block(*body, dtype)});
}

// One key, and perhaps an array that goes with it.
void ProgramMaker::sort() {
  const auto found = pick([this](int v) {
    return rank(v) > 0 && facts(v).exact && facts(v).clean && !devices::is_complex(type(v).dtype) &&
           type(v).dtype != DType::kI1;
  });
  if (!found) return;
  const int key = *found;
  std::vector<int> operands = {key};
  if (chance(50)) {
    const auto other = pick([&](int v) { return type(v).dims == type(key).dims; });
    if (other) operands.push_back(*other);
  }
  const std::string direction = chance(50) ? "LT" : "GT";
  const std::string kind = devices::is_floating(type(key).dtype)         ? "FLOAT"
                           : devices::is_signed_integer(type(key).dtype) ? "SIGNED"
                                                                         : "UNSIGNED";
  ProgramBlock block;
  for (const int v : operands) {
    for (int i = 0; i < 2; ++i) block.parameters.push_back(program_.add_value({type(v).dtype, {}}));
  }
  const int less = program_.add_value({DType::kI1, {}});
  facts_.resize(program_.types.size());
  block.steps.push_back(
      {"compare",
       {block.parameters[0], block.parameters[1]},
       {less},
       {text("comparison_direction", "#stablehlo<comparison_direction " + direction + ">"),
        text("compare_type", "#stablehlo<comparison_type " + kind + ">")}});
  block.results = {less};
  ProgramStep step{
      .op = "sort",
      .operands = operands,
      .results = {},
      .attributes = {{"dimension", Kind::kInteger, {below(rank(key))}}, text("is_stable", "true")},
      .blocks = {std::move(block)}};
  for (const int v : operands) {
    const TensorType made = type(v);
    const Facts f = facts(v);
    step.results.push_back(new_value(made, f));
  }
  steps_->push_back(std::move(step));
}

// Batch and contracted dimensions are any of those that fit.
void ProgramMaker::dot() {
  const auto left = pick([this](int v) {
    return rank(v) > 0 && rank(v) <= 3 && facts(v).bound < 1e4 && type(v).dtype != DType::kI1;
  });
  if (!left) return;
  auto right = pick([&](int v) {
    return type(v).dtype == type(*left).dtype && rank(v) > 0 && rank(v) <= 3 &&
           facts(v).bound < 1e4;
  });
  const Numbers a = type(*left).dims, b = type(*right).dims;
  Numbers batch_a, batch_b, with_a, with_b, result;
  double count = 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto at_a = static_cast<std::int64_t>(i), at_b = static_cast<std::int64_t>(j);
      const bool used = std::ranges::find(batch_b, at_b) != batch_b.end() ||
                        std::ranges::find(with_b, at_b) != with_b.end();
      if (used || a[i] != b[j] || !chance(60)) continue;
      if (chance(30)) {
        batch_a.push_back(at_a);
        batch_b.push_back(at_b);
      } else {
        with_a.push_back(at_a);
        with_b.push_back(at_b);
        count *= static_cast<double>(a[i]);
      }
      break;
    }
  }
  for (const std::int64_t d : batch_a) result.push_back(a[static_cast<std::size_t>(d)]);
  const auto add_rest = [&](const Numbers& dims, const Numbers& batch, const Numbers& with) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (std::ranges::find(batch, at) == batch.end() && std::ranges::find(with, at) == with.end())
        result.push_back(dims[i]);
    }
  };
  add_rest(a, batch_a, with_a);
  add_rest(b, batch_b, with_b);
  if (result.size() > 5 || TensorType{DType::kF32, result}.elements() > 4096) return;
  std::string numbers = "#stablehlo.dot<";
  const auto add = [&](const std::string& name, const Numbers& list) {
    if (list.empty()) return;
    numbers += (numbers.back() == '<' ? "" : ", ") + name + " = " + number_list(list);
  };
  add("lhs_batching_dimensions", batch_a);
  add("rhs_batching_dimensions", batch_b);
  add("lhs_contracting_dimensions", with_a);
  add("rhs_contracting_dimensions", with_b);
  const Facts f = joined({*left, *right});
  const DType dtype = type(*left).dtype;
  const bool rounds = devices::is_floating(dtype) || devices::is_complex(dtype);
  emit("dot_general", {*left, *right}, {dtype, result},
       {.exact = !rounds,
        .clean = f.clean,
        .bound = 2 * facts(*left).bound * facts(*right).bound * count},
       {text("dot_dimension_numbers", numbers + ">")});
}

void ProgramMaker::convolution() {
  if (depth_ > 0) return;
  const std::int64_t spatial = 1 + below(2);
  const DType dtype = chance(80) ? DType::kF32 : chance(50) ? DType::kF64 : DType::kI32;
  std::int64_t groups = chance(75) ? 1 : 2, batch_groups = 1;
  if (groups == 1 && chance(15)) batch_groups = 2;
  const std::int64_t batch = batch_groups * (1 + below(2)), features = groups * (1 + below(3)),
                     outputs = groups * batch_groups * (1 + below(3));
  Numbers in, kernel, stride, low_high, lhs, rhs, out;
  std::string reversal;
  // XLA ends the process over some that reverse, and dilate or cut too.
  const bool plain = chance(25);
  // None below zero: XLA reads uninitialised memory then (seen with MALLOC_PERTURB_=1).
  const auto padding = [&] { return below(4); };
  for (std::int64_t d = 0; d < spatial; ++d) {
    in.push_back(2 + below(7));
    kernel.push_back(1 + below(3));
    stride.push_back(1 + below(2));
    lhs.push_back(plain || chance(75) ? 1 : 2);
    rhs.push_back(plain || chance(75) ? 1 : 2);
    low_high.push_back(padding());
    low_high.push_back(padding());
    reversal += std::string(d == 0 ? "" : ", ") + (plain && chance(60) ? "true" : "false");
    const std::int64_t whole =
        (in.back() - 1) * lhs.back() + 1 + low_high[low_high.size() - 2] + low_high.back();
    const std::int64_t reach = (kernel.back() - 1) * rhs.back() + 1;
    if (whole < reach) return;
    out.push_back((whole - reach) / stride.back() + 1);
  }
  // Each operand's dimensions in an order of its own: letters as the attribute has them.
  const auto laid_out = [&](const std::vector<std::pair<std::string, std::int64_t>>& all,
                            std::string& letters) {
    std::vector<std::pair<std::string, std::int64_t>> order = all;
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    Numbers dims;
    for (const auto& [letter, size] : order) {
      letters += (letters.empty() ? "" : ", ") + letter;
      dims.push_back(size);
    }
    return dims;
  };
  using Named = std::vector<std::pair<std::string, std::int64_t>>;
  Named image = {{"b", batch}, {"f", features}},
        weights = {{"i", features / groups}, {"o", outputs}},
        made = {{"b", batch / batch_groups}, {"f", outputs}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(spatial); ++d) {
    image.emplace_back(std::to_string(d), in[d]);
    weights.emplace_back(std::to_string(d), kernel[d]);
    made.emplace_back(std::to_string(d), out[d]);
  }
  std::string a, b, c;
  const TensorType image_type{dtype, laid_out(image, a)}, weights_type{dtype, laid_out(weights, b)},
      result{dtype, laid_out(made, c)};
  const int x = parameter(image_type);
  const int w = parameter(weights_type);
  emit("convolution", {x, w}, result,
       {.exact = !devices::is_floating(dtype),
        .bound = devices::is_floating(dtype)
                     ? 16.0 * static_cast<double>(weights_type.elements() + 1)
                     : HUGE_VAL},
       {{"window_strides", Kind::kArray, stride},
        {"padding", Kind::kPairs, low_high},
        {"lhs_dilation", Kind::kArray, lhs},
        {"rhs_dilation", Kind::kArray, rhs},
        text("window_reversal", "array<i1: " + reversal + ">"),
        text("dimension_numbers", "#stablehlo.conv<[" + a + "]x[" + b + "]->[" + c + "]>"),
        {"feature_group_count", Kind::kInteger, {groups}},
        {"batch_group_count", Kind::kInteger, {batch_groups}}});
}

}  // namespace millrace::testing
