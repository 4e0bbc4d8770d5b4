#include "tests/support/program_maker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace millrace::testing {

using devices::DType;
using Kind = ProgramAttribute::Kind;

namespace {

constexpr double kInfinity = HUGE_VAL;

std::string comparison_type(DType type) {
  if (devices::is_floating(type)) return "FLOAT";
  return devices::is_signed_integer(type) ? "SIGNED" : "UNSIGNED";
}

}  // namespace

RandomProgram random_program(std::uint64_t seed) { return ProgramMaker(seed).make(); }

RandomProgram random_program(std::uint64_t seed, int devices, bool is_manual) {
  return ProgramMaker(seed, devices, is_manual).make();
}

RandomProgram ProgramMaker::make() {
  steps_ = &program_.main.steps;
  for (std::int64_t i = 0, count = 1 + below(3); i < count; ++i) {
    const TensorType made{random_type(), random_dims(3)};
    parameter(made, devices::is_floating(made.dtype) && chance(12));
  }
  for (std::int64_t i = 0, count = 4 + below(10); i < count; ++i) add_step();
  // A value that no step reads is a result, so that every step counts.
  std::set<int> read;
  for (const ProgramStep& step : program_.main.steps)
    read.insert(step.operands.begin(), step.operands.end());
  for (const ProgramStep& step : program_.main.steps) {
    for (const int v : step.results) {
      if (!read.contains(v)) program_.main.results.push_back(v);
    }
  }
  if (program_.main.results.empty()) program_.main.results.push_back(scope_.back());
  return std::move(program_);
}

void ProgramMaker::add_step() {
  if (program_.devices > 1 && chance(25)) return collective();
  using Maker = void (ProgramMaker::*)();
  static constexpr std::pair<int, Maker> kFamilies[] = {
      {14, &ProgramMaker::unary},
      {18, &ProgramMaker::binary},
      {10, &ProgramMaker::compare_or_select},
      {7, &ProgramMaker::convert},
      {3, &ProgramMaker::complex_numbers},
      {9, &ProgramMaker::reshape_or_transpose},
      {8, &ProgramMaker::broadcast_or_iota},
      {7, &ProgramMaker::slice_or_reverse},
      {8, &ProgramMaker::pad_or_concatenate},
      {6, &ProgramMaker::dynamic_slices},
      {5, &ProgramMaker::gather},
      {5, &ProgramMaker::scatter},
      {8, &ProgramMaker::reduce},
      {5, &ProgramMaker::reduce_window},
      {5, &ProgramMaker::sort},
      {6, &ProgramMaker::dot},
      {5, &ProgramMaker::convolution},
      {4, &ProgramMaker::branch},
      {4, &ProgramMaker::loop},
  };
  std::int64_t total = 0;
  for (const auto& [weight, make] : kFamilies) total += weight;
  std::int64_t at = below(total);
  for (const auto& [weight, make] : kFamilies) {
    at -= weight;
    if (at < 0) return (this->*make)();
  }
}

std::vector<std::int64_t> ProgramMaker::random_dims(int most) {
  std::vector<std::int64_t> dims(static_cast<std::size_t>(below(most + 1)));
  for (std::int64_t& d : dims) d = chance(2) ? 0 : 1 + below(6);
  return dims;
}

DType ProgramMaker::random_type() {
  static const std::vector<DType> kTypes = {
      DType::kF32,  DType::kF32, DType::kF32, DType::kF32, DType::kF64, DType::kF16,
      DType::kBF16, DType::kI32, DType::kI32, DType::kI8,  DType::kI16, DType::kI64,
      DType::kU8,   DType::kU16, DType::kU32, DType::kU64, DType::kI1};
  return one_of(kTypes);
}

bool ProgramMaker::is_integer(int v) const {
  return devices::is_signed_integer(type(v).dtype) || devices::is_unsigned_integer(type(v).dtype);
}

int ProgramMaker::new_value(TensorType type, Facts facts) {
  facts_.push_back(facts);
  const int value = program_.add_value(std::move(type));
  scope_.push_back(value);
  return value;
}

int ProgramMaker::parameter(TensorType type, bool special) {
  const int value = new_value(type, {.clean = !special, .bound = special ? kInfinity : 8});
  program_.main.parameters.push_back(value);
  if (special) program_.special.insert(value);
  return value;
}

int ProgramMaker::splat(TensorType type, const std::string& text, double bound) {
  return emit("constant", {}, type, {.bound = bound}, {{"value", Kind::kSplat, {}, text}});
}

std::optional<int> ProgramMaker::pick(const Wanted& wanted) {
  std::vector<int> fitting;
  for (const int v : scope_) {
    if (type(v).elements() <= 4096 && wanted(v)) fitting.push_back(v);
  }
  if (fitting.empty()) return std::nullopt;
  // The newest more often, so that chains grow.
  if (chance(40)) return fitting.back();
  return one_of(fitting);
}

int ProgramMaker::same_type(int v, const Wanted& wanted) {
  const TensorType wanted_type = type(v);
  if (chance(80)) {
    const auto found = pick([&](int other) { return type(other) == wanted_type && wanted(other); });
    if (found) return *found;
  }
  if (depth_ == 0 && chance(70)) return parameter(wanted_type);
  if (wanted_type.dtype == DType::kI1) return splat(wanted_type, "true", 1);
  if (devices::is_complex(wanted_type.dtype)) return splat(wanted_type, "(1.5, -0.5)", 2);
  return splat(wanted_type, devices::is_floating(wanted_type.dtype) ? "1.5" : "3", 3);
}

int ProgramMaker::emit(std::string op, std::vector<int> operands, TensorType type, Facts facts,
                       std::vector<ProgramAttribute> attributes, std::vector<ProgramBlock> blocks) {
  const int result = new_value(type, facts);
  steps_->push_back(
      {std::move(op), std::move(operands), {result}, std::move(attributes), std::move(blocks)});
  return result;
}

ProgramMaker::Facts ProgramMaker::joined(std::initializer_list<int> values) {
  Facts all{.bound = 0};
  for (const int v : values) {
    all.exact = all.exact && facts(v).exact;
    all.clean = all.clean && facts(v).clean;
    all.bound = std::max(all.bound, facts(v).bound);
  }
  return all;
}

void ProgramMaker::unary() {
  const auto found = pick([this](int v) { return !devices::is_complex(type(v).dtype); });
  if (!found) return;
  const int x = *found;
  const Facts f = facts(x);
  const TensorType t = type(x);
  if (!is_float(x)) {
    std::vector<std::string> ops = {"not"};
    if (is_integer(x)) ops.insert(ops.end(), {"negate", "popcnt", "count_leading_zeros"});
    if (devices::is_signed_integer(t.dtype)) ops.insert(ops.end(), {"abs", "sign"});
    emit(one_of(ops), {x}, t, {.bound = kInfinity});
    return;
  }
  std::vector<std::string> exact = {"negate", "abs"};
  if (f.exact) {
    exact.insert(exact.end(), {"sign", "floor", "ceil", "round_nearest_even", "round_nearest_afz"});
  }
  if (chance(40)) {
    emit(one_of(exact), {x}, t, f);
    return;
  }
  if (f.exact && chance(15)) {
    emit("is_finite", {x}, {DType::kI1, t.dims}, {.bound = 1});
    return;
  }
  // Where the slope is small everywhere, or the argument has no rounding to be magnified.
  std::vector<std::pair<std::string, double>> smooth = {{"tanh", 1}, {"logistic", 1}};
  if (f.bound <= 10) smooth.insert(smooth.end(), {{"sine", 1}, {"cosine", 1}});
  if (f.bound <= 4) {
    smooth.insert(smooth.end(), {{"exponential", 60}, {"exponential_minus_one", 60}});
  }
  if (f.exact && f.clean && f.bound <= 100) {
    smooth.insert(smooth.end(), {{"sqrt", 10},
                                 {"cbrt", 5},
                                 {"rsqrt", kInfinity},
                                 {"log", kInfinity},
                                 {"log_plus_one", kInfinity}});
  }
  const auto& [op, bound] = one_of(smooth);
  const bool positive_only = op == "sqrt" || op == "rsqrt" || op == "log" || op == "log_plus_one";
  emit(op, {x}, t, {.exact = false, .clean = f.clean && !positive_only, .bound = bound});
}

void ProgramMaker::binary() {
  const auto found = pick([this](int v) { return facts(v).bound < 1e6 || !is_float(v); });
  if (!found) return;
  const int x = *found;
  const TensorType t = type(x);
  if (t.dtype == DType::kI1) {
    const int y = same_type(x, [](int) { return true; });
    emit(one_of<std::string>({"and", "or", "xor", "maximum", "minimum"}), {x, y}, t, {.bound = 1});
    return;
  }
  if (is_integer(x)) {
    int y = same_type(x, [](int) { return true; });
    const std::string op = one_of<std::string>(
        {"add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor", "shift_left",
         "shift_right_logical", "shift_right_arithmetic", "divide", "remainder"});
    // What a division by zero gives, no rule says.
    if (op == "divide" || op == "remainder") y = emit("or", {y, splat(t, "1", 1)}, t, {});
    emit(op, {x, y}, t, {.bound = kInfinity});
    return;
  }
  if (devices::is_complex(t.dtype)) {
    const int y = same_type(x, [this](int v) { return facts(v).bound < 1e6; });
    const Facts f = joined({x, y});
    emit(one_of<std::string>({"add", "subtract", "multiply"}), {x, y}, t,
         {.exact = false, .clean = f.clean, .bound = 2 * f.bound * f.bound + 2 * f.bound});
    return;
  }
  const int y = same_type(x, [this](int v) { return facts(v).bound < 1e6; });
  const Facts f = joined({x, y});
  std::vector<std::string> ops = {"add",      "add",     "subtract", "multiply",
                                  "multiply", "maximum", "minimum"};
  if (f.exact) ops.insert(ops.end(), {"divide", "remainder", "power"});
  // XLA's own atan2 of two zeros in half precision is none.
  if (f.exact && devices::byte_width(t.dtype) > 2) ops.emplace_back("atan2");
  const std::string& op = one_of(ops);
  if (op == "maximum" || op == "minimum") {
    emit(op, {x, y}, t, f);
  } else if (op == "add" || op == "subtract") {
    emit(op, {x, y}, t, {.exact = false, .clean = f.clean, .bound = 2 * f.bound});
  } else if (op == "multiply") {
    emit(op, {x, y}, t,
         {.exact = false, .clean = f.clean, .bound = facts(x).bound * facts(y).bound});
  } else {
    emit(op, {x, y}, t, {.exact = false, .clean = false, .bound = kInfinity});
  }
}

void ProgramMaker::compare_or_select() {
  if (chance(50)) {
    const auto found =
        pick([this](int v) { return facts(v).exact && !devices::is_complex(type(v).dtype); });
    if (!found) return;
    const int y = same_type(*found, [this](int v) { return facts(v).exact; });
    const DType dtype = type(*found).dtype;
    const std::string direction = one_of<std::string>({"EQ", "NE", "LT", "LE", "GT", "GE"});
    emit("compare", {*found, y}, {DType::kI1, type(*found).dims}, {.bound = 1},
         {{"comparison_direction",
           Kind::kText,
           {},
           "#stablehlo<comparison_direction " + direction + ">"},
          {"compare_type",
           Kind::kText,
           {},
           "#stablehlo<comparison_type " + comparison_type(dtype) + ">"}});
    return;
  }
  const auto found = pick_any();
  if (!found) return;
  const int x = *found;
  const int y = same_type(x, [](int) { return true; });
  if (chance(30) && !devices::is_complex(type(x).dtype) && type(x).dtype != DType::kI1) {
    const int z = same_type(x, [](int) { return true; });
    emit("clamp", {y, x, z}, type(x), joined({x, y, z}));
    return;
  }
  const bool scalar = chance(30);
  const std::vector<std::int64_t> dims = scalar ? std::vector<std::int64_t>{} : type(x).dims;
  const TensorType wanted{DType::kI1, dims};
  auto chosen = pick([&](int v) { return type(v) == wanted; });
  if (!chosen && depth_ == 0) chosen = parameter(wanted);
  if (!chosen) return;
  emit("select", {*chosen, x, y}, type(x), joined({x, y}));
}

void ProgramMaker::convert() {
  const auto found = pick([this](int v) { return !devices::is_complex(type(v).dtype); });
  if (!found) return;
  const int x = *found;
  const Facts f = facts(x);
  DType to = random_type();
  const bool to_float = devices::is_floating(to);
  if (is_float(x)) {
    // Which integer a number becomes that none is near of, no rule says.
    const bool jumps = !to_float && to != DType::kI1;
    if (jumps && (!f.exact || !f.clean || f.bound > 100 || devices::is_unsigned_integer(to)))
      to = DType::kF32;
    if (to == DType::kI1 && !f.exact) to = DType::kF32;
  }
  if (chance(10) && f.exact && f.clean && devices::byte_width(type(x).dtype) == 4 && is_float(x)) {
    emit("bitcast_convert", {x}, {DType::kI32, type(x).dims}, {.bound = kInfinity});
    return;
  }
  Facts made = f;
  if (is_float(x) && devices::is_floating(to)) {
    made.exact = f.exact && devices::byte_width(to) >= devices::byte_width(type(x).dtype) &&
                 devices::byte_width(to) > 2;
  } else if (to_float) {
    made.exact = false;
    if (to == DType::kF16) made.clean = false;  // large integers are infinities
  }
  emit("convert", {x}, {to, type(x).dims}, made);
}

void ProgramMaker::complex_numbers() {
  const auto whole = pick([this](int v) { return type(v).dtype == DType::kC64; });
  if (whole && chance(60)) {
    const std::string op = one_of<std::string>({"real", "imag", "abs"});
    Facts f = facts(*whole);
    if (op == "abs") f = {.exact = false, .clean = f.clean, .bound = 2 * f.bound};
    emit(op, {*whole}, {DType::kF32, type(*whole).dims}, f);
    return;
  }
  const auto part = pick([this](int v) {
    return type(v).dtype == DType::kF32 && facts(v).clean && facts(v).bound < 1e6;
  });
  if (!part) return;
  const int other =
      same_type(*part, [this](int v) { return facts(v).clean && facts(v).bound < 1e6; });
  emit("complex", {*part, other}, {DType::kC64, type(*part).dims}, joined({*part, other}));
}

ProgramBlock ProgramMaker::inner_block(const std::vector<int>& parameters,
                                       const std::vector<TensorType>& wanted) {
  ProgramBlock block{.parameters = parameters};
  std::vector<ProgramStep>* const outer = std::exchange(steps_, &block.steps);
  const std::vector<int> outer_scope = scope_;
  scope_.insert(scope_.end(), parameters.begin(), parameters.end());
  ++depth_;
  for (std::int64_t i = 0, count = 1 + below(3); i < count; ++i) add_step();
  for (const TensorType& type : wanted) {
    const auto last = std::find_if(scope_.rbegin(), scope_.rend(), [&](int v) {
      return this->type(v) == type && facts(v).bound < 1e3;
    });
    block.results.push_back(last != scope_.rend() ? *last
                                                  : splat(type,
                                                          devices::is_floating(type.dtype) ? "0.5"
                                                          : type.dtype == DType::kI1       ? "false"
                                                                                           : "2",
                                                          2));
  }
  --depth_;
  scope_ = outer_scope;
  steps_ = outer;
  return block;
}

void ProgramMaker::branch() {
  if (depth_ > 0) return;
  const auto found =
      pick([this](int v) { return !devices::is_complex(type(v).dtype) && facts(v).bound < 1e3; });
  if (!found) return;
  const TensorType wanted = type(*found);
  const bool two = chance(50);
  int selector = parameter({two ? DType::kI1 : DType::kI32, {}});
  if (program_.devices > 1) selector = agreed(selector);
  std::vector<ProgramBlock> blocks;
  for (std::int64_t i = 0, count = two ? 2 : 1 + below(3); i < count; ++i)
    blocks.push_back(inner_block({}, {wanted}));
  emit(two ? "if" : "case", {selector}, wanted,
       {.exact = !devices::is_floating(wanted.dtype), .clean = false, .bound = 1e3}, {},
       std::move(blocks));
}

// for (i = 0; i < n; ++i) x = body(x)
void ProgramMaker::loop() {
  if (depth_ > 0) return;
  const auto found =
      pick([this](int v) { return !devices::is_complex(type(v).dtype) && facts(v).bound < 1e3; });
  if (!found) return;
  const TensorType index{DType::kI32, {}};
  const TensorType carried = type(*found);
  const int zero = splat(index, "0", 0);
  // What is carried gets a bound that the body knows: every round it may have grown.
  const Facts inside{.exact = !devices::is_floating(carried.dtype), .clean = false, .bound = 1e3};

  ProgramBlock condition;
  condition.parameters = {program_.add_value(index), program_.add_value(carried)};
  facts_.resize(program_.types.size(), inside);
  std::vector<ProgramStep>* const outer = std::exchange(steps_, &condition.steps);
  const std::vector<int> scope = scope_;
  const int end = splat(index, std::to_string(below(4)), 4);
  condition.results = {
      emit("compare", {condition.parameters[0], end}, {DType::kI1, {}}, {.bound = 1},
           {{"comparison_direction", Kind::kText, {}, "#stablehlo<comparison_direction LT>"},
            {"compare_type", Kind::kText, {}, "#stablehlo<comparison_type SIGNED>"}})};
  steps_ = outer;
  scope_ = scope;

  const int i = program_.add_value(index);
  const int x = program_.add_value(carried);
  facts_.resize(program_.types.size(), inside);
  ProgramBlock body = inner_block({i, x}, {carried});
  steps_ = &body.steps;
  const int one = splat(index, "1", 1);
  const int next = emit("add", {i, one}, index, {});
  steps_ = outer;
  scope_ = scope;
  body.results.insert(body.results.begin(), next);

  const int count = new_value(index, {.bound = 4});
  const int result = new_value(carried, inside);
  steps_->push_back({.op = "while",
                     .operands = {zero, *found},
                     .results = {count, result},
                     .blocks = {std::move(condition), std::move(body)}});
}

}  // namespace millrace::testing
