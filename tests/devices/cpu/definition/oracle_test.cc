// Compiled programs against the interpreter of unfused operations: random programs from a seed, of
// operations whose results are exact, so that every element has to be the same.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {
namespace {

struct Tensor {
  std::string name;
  DType type;
  std::vector<std::int64_t> dims;
  std::string text() const { return Shape(type, dims).to_string(); }
};

std::string list(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::int64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return text;
}

// Straight-line programs of movement, elementwise operations, reductions and contractions.
class ProgramMaker {
 public:
  explicit ProgramMaker(unsigned seed) : random_(seed) {}

  std::string make() {
    for (int i = 0; i < 3; ++i) {
      static constexpr DType kTypes[] = {DType::kF32, DType::kI32, DType::kI8,   DType::kU16,
                                         DType::kF64, DType::kC64, DType::kBF16, DType::kI4};
      std::vector<std::int64_t> dims(static_cast<std::size_t>(below(4)));
      for (std::int64_t& d : dims) d = 1 + below(5);
      inputs_.push_back({"%in" + std::to_string(i), kTypes[below(std::size(kTypes))], dims});
      values_.push_back(inputs_.back());
    }
    for (int i = 0; i < 14; ++i) add_op();
    std::string arguments, types, names;
    for (const Tensor& t : inputs_)
      arguments += (arguments.empty() ? "" : ", ") + t.name + ": " + t.text();
    for (std::size_t i = values_.size() - 4; i < values_.size(); ++i) {
      types += (types.empty() ? "" : ", ") + values_[i].text();
      names += (names.empty() ? "" : ", ") + values_[i].name;
    }
    return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body_ + "  return " +
           names + " : " + types + "\n}\n";
  }
  const std::vector<Tensor>& inputs() const { return inputs_; }

 private:
  std::int64_t below(std::size_t n) { return static_cast<std::int64_t>(random_() % n); }
  const Tensor& any() { return values_[static_cast<std::size_t>(below(values_.size()))]; }

  // op_text goes between "%x = " and ": (types) -> type".
  void emit(const std::string& op_text, const std::vector<Tensor>& operands, DType type,
            std::vector<std::int64_t> dims) {
    Tensor t{"%v" + std::to_string(next_++), type, std::move(dims)};
    std::string types;
    for (const Tensor& o : operands) types += (types.empty() ? "" : ", ") + o.text();
    body_ += "  " + t.name + " = " + op_text + " : (" + types + ") -> " + t.text() + "\n";
    values_.push_back(t);
  }

  void add_op() {
    const Tensor a = any();
    switch (below(13)) {
      case 0:
        return unary(a);
      case 1:
      case 2:
        return binary(a);
      case 3:
        return emit("stablehlo.reshape " + a.name, {a}, a.type, {Shape(a.type, a.dims).elements()});
      case 4:
        return transpose(a);
      case 5:
        return reverse(a);
      case 6:
        return slice(a);
      case 7:
        return pad(a);
      case 8:
        return broadcast(a);
      case 9:
        return concatenate(a);
      case 10:
        return reduce(a);
      case 11:
        return compare(a);
      default:
        return dot(a);
    }
  }

  void unary(const Tensor& a) {
    if (a.type == DType::kI1) return emit("stablehlo.not " + a.name, {a}, a.type, a.dims);
    emit("stablehlo.negate " + a.name, {a}, a.type, a.dims);
  }
  void binary(const Tensor& a) {
    if (a.type == DType::kI1)
      return emit("stablehlo.xor " + a.name + ", " + a.name, {a, a}, a.type, a.dims);
    static const char* const kOps[] = {"add", "subtract", "maximum", "minimum"};
    Tensor b = a;
    for (const Tensor& t : values_) {
      if (t.type == a.type && t.dims == a.dims && below(2) == 0) b = t;
    }
    const std::size_t most = is_complex(a.type) ? 2 : 4;
    emit(std::string("stablehlo.") + kOps[below(most)] + " " + a.name + ", " + b.name, {a, b},
         a.type, a.dims);
  }
  void transpose(const Tensor& a) {
    std::vector<std::int64_t> order(a.dims.size()), dims;
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<std::int64_t>(d);
    std::shuffle(order.begin(), order.end(), random_);
    for (std::int64_t d : order) dims.push_back(a.dims[static_cast<std::size_t>(d)]);
    emit("stablehlo.transpose " + a.name + ", dims = [" + list(order) + "]", {a}, a.type, dims);
  }
  void reverse(const Tensor& a) {
    std::vector<std::int64_t> dims;
    for (std::size_t d = 0; d < a.dims.size(); ++d) {
      if (below(2) == 0) dims.push_back(static_cast<std::int64_t>(d));
    }
    Tensor t{"%v" + std::to_string(next_++), a.type, a.dims};
    body_ += "  " + t.name + " = stablehlo.reverse " + a.name + ", dims = [" + list(dims) +
             "] : " + t.text() + "\n";
    values_.push_back(t);
  }
  void slice(const Tensor& a) {
    std::string ranges;
    std::vector<std::int64_t> dims;
    for (std::int64_t d : a.dims) {
      const std::int64_t start = below(static_cast<std::size_t>(d)), step = 1 + below(2);
      const std::int64_t limit = start + 1 + below(static_cast<std::size_t>(d - start));
      ranges += (ranges.empty() ? "" : ", ") + std::to_string(start) + ":" + std::to_string(limit) +
                ":" + std::to_string(step);
      dims.push_back((limit - start + step - 1) / step);
    }
    emit("stablehlo.slice " + a.name + " [" + ranges + "]", {a}, a.type, dims);
  }
  Tensor zero(DType type) {
    Tensor t{"%v" + std::to_string(next_++), type, {}};
    const std::string value = is_complex(type)     ? "(0.0, 0.0)"
                              : is_floating(type)  ? "0.0"
                              : type == DType::kI1 ? "false"
                                                   : "0";
    body_ += "  " + t.name + " = stablehlo.constant dense<" + value + "> : " + t.text() + "\n";
    return t;
  }
  void pad(const Tensor& a) {
    std::vector<std::int64_t> low, high, interior, dims;
    for (std::int64_t d : a.dims) {
      low.push_back(below(3) - 1);
      high.push_back(below(3));
      interior.push_back(below(2));
      const std::int64_t n = low.back() + high.back() + d + (d - 1) * interior.back();
      if (n < 1) high.back() += 1 - n;
      dims.push_back(std::max<std::int64_t>(n, 1));
    }
    const Tensor z = zero(a.type);
    emit("stablehlo.pad " + a.name + ", " + z.name + ", low = [" + list(low) + "], high = [" +
             list(high) + "], interior = [" + list(interior) + "]",
         {a, z}, a.type, dims);
  }
  void broadcast(const Tensor& a) {
    if (a.dims.size() > 3) return;
    std::vector<std::int64_t> dims{1 + below(3)}, to;
    for (std::size_t d = 0; d < a.dims.size(); ++d) {
      dims.push_back(a.dims[d] == 1 ? 1 + below(4) : a.dims[d]);
      to.push_back(static_cast<std::int64_t>(d) + 1);
    }
    emit("stablehlo.broadcast_in_dim " + a.name + ", dims = [" + list(to) + "]", {a}, a.type, dims);
  }
  void concatenate(const Tensor& a) {
    if (a.dims.empty()) return;
    std::vector<std::int64_t> dims = a.dims;
    dims[0] *= 2;
    emit("stablehlo.concatenate " + a.name + ", " + a.name + ", dim = 0", {a, a}, a.type, dims);
  }
  void reduce(const Tensor& a) {
    if (a.dims.empty() || a.type == DType::kI1 || a.type == DType::kBF16) return;
    const std::int64_t d = below(a.dims.size());
    std::vector<std::int64_t> dims = a.dims;
    dims.erase(dims.begin() + d);
    const Tensor z = zero(a.type);
    emit("stablehlo.reduce(" + a.name + " init: " + z.name +
             ") applies stablehlo.add across dimensions = [" + std::to_string(d) + "]",
         {a, z}, a.type, dims);
  }
  void compare(const Tensor& a) {
    emit("stablehlo.compare EQ, " + a.name + ", " + a.name, {a, a}, DType::kI1, a.dims);
  }
  // Multiplies inputs only: sums of sums may grow too large to be exact.
  void dot(const Tensor&) {
    const Tensor& a = inputs_[static_cast<std::size_t>(below(inputs_.size()))];
    if (a.dims.size() != 2 || a.type == DType::kBF16) return;
    emit("stablehlo.dot_general " + a.name + ", " + a.name + ", contracting_dims = [1] x [1]",
         {a, a}, a.type, {a.dims[0], a.dims[0]});
  }

  std::mt19937 random_;
  std::vector<Tensor> inputs_, values_;
  std::string body_;
  int next_ = 0;
};

// Small whole numbers: sums and products of them are exact in every type here.
Array array_of(const Tensor& t, std::mt19937& random) {
  Array a{Shape(t.type, t.dims), {}};
  a.bytes.resize(a.shape.size_bytes());
  for (std::int64_t i = 0; i < a.shape.elements(); ++i) {
    const auto number = static_cast<std::int64_t>(random() % 7) - 3;
    const auto value = is_floating(t.type) || is_complex(t.type)
                           ? definition::from_complex(static_cast<double>(number), 1.0)
                           : definition::from_signed(number);
    definition::store(t.type, value, &a.bytes[static_cast<std::size_t>(i) * byte_width(t.type)]);
  }
  return a;
}

TEST(ReferenceOracleTest, RandomProgramsGiveWhatTheInterpreterGives) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    ProgramMaker maker(seed);
    const std::string text = maker.make();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const auto module = stablehlo::text::read_text(text);
    ASSERT_TRUE(module.has_value()) << module.error().to_string();
    const Status verdict = stablehlo::verify::verify(*module);
    ASSERT_TRUE(verdict.has_value()) << verdict.error().to_string();
    std::mt19937 random(seed);
    Arrays inputs;
    for (const Tensor& t : maker.inputs()) inputs.push_back(array_of(t, random));
    const auto want = interpreted(*module, "main", inputs);
    ASSERT_TRUE(want.has_value()) << want.error().to_string();
    const auto got = planned(*module, "main", inputs);
    ASSERT_TRUE(got.has_value()) << got.error().to_string();
    ASSERT_EQ(difference(*got, *want), "");
  }
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
