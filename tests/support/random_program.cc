#include "tests/support/random_program.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "millrace/core/base/philox.h"
#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::testing {

using devices::DType;
using devices::HostArray;

namespace {

std::string list_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return text;
}

std::string pairs_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    text += (i == 0 ? "[" : ", [") + std::to_string(numbers[i]) + ", " +
            std::to_string(numbers[i + 1]) + "]";
  }
  return "dense<[" + text + "]> : tensor<" + std::to_string(numbers.size() / 2) + "x2xi64>";
}

class Printer {
 public:
  explicit Printer(const RandomProgram& program) : program_(program) {}

  std::string print() {
    text_ = "module @seed_" + std::to_string(program_.seed) + " {\nfunc.func public @main(";
    for (const int p : program_.main.parameters) {
      text_ += (p == program_.main.parameters.front() ? "" : ", ") + name(p) + ": " +
               program_.type(p).text();
    }
    text_ += ") -> (" + types(program_.main.results) + ") {\n";
    for (const ProgramStep& step : program_.main.steps) add(step, "  ");
    text_ += "  return " + names(program_.main.results) + " : " + types(program_.main.results) +
             "\n}\n}\n";
    return std::move(text_);
  }

  std::string print_manual() {
    const std::vector<int>&in = program_.main.parameters, &out = program_.main.results;
    const auto wholes = [this](int v) { return whole(v); };
    const auto shardings = [this](int v) { return sharding(v); };
    const auto parts = [this](int v) { return part(v); };
    const auto arguments = [this](int v) {
      return "%w" + std::to_string(v) + ": " + whole(v) + " {sdy.sharding = #sdy.sharding" +
             sharding(v) + "}";
    };
    text_ = "module @seed_" + std::to_string(program_.seed) +
            " {\nsdy.mesh @mesh = <[\"x\"=" + std::to_string(program_.devices) +
            "]>\nfunc.func public @main(" + list(in, arguments) + ") -> (" +
            list(out,
                 [&](int v) {
                   return whole(v) + " {sdy.sharding = #sdy.sharding" + sharding(v) + "}";
                 }) +
            ") {\n  %r:" + std::to_string(out.size()) + " = sdy.manual_computation(" +
            list(in, [](int v) { return "%w" + std::to_string(v); }) + ") in_shardings=[" +
            list(in, shardings) + "] out_shardings=[" + list(out, shardings) +
            "] manual_axes={\"x\"} (" +
            list(in, [&](int v) { return "%p" + std::to_string(v) + ": " + part(v); }) + ") {\n";
    for (const int v : in) {
      text_ += "  " + name(v) + " = \"stablehlo.reshape\"(%p" + std::to_string(v) + ") : (" +
               part(v) + ") -> " + program_.type(v).text() + "\n";
    }
    for (const ProgramStep& step : program_.main.steps) add(step, "  ");
    std::vector<std::string> returned;
    for (std::size_t i = 0; i < out.size(); ++i) {
      returned.push_back("%q" + std::to_string(i));
      text_ += "  " + returned.back() + " = \"stablehlo.reshape\"(" + name(out[i]) + ") : (" +
               program_.type(out[i]).text() + ") -> " + part(out[i]) + "\n";
    }
    std::string values, results;
    for (std::size_t i = 0; i < out.size(); ++i) {
      values += (i == 0 ? "" : ", ") + returned[i];
      results += (i == 0 ? "%r#" : ", %r#") + std::to_string(i);
    }
    text_ += "  sdy.return " + values + " : " + list(out, parts) + "\n} : (" + list(in, wholes) +
             ") -> (" + list(out, wholes) + ")\n  return " + results + " : " + list(out, wholes) +
             "\n}\n}\n";
    return std::move(text_);
  }

 private:
  TensorType with_devices(int value, int devices) const {
    TensorType type = program_.type(value);
    type.dims.insert(type.dims.begin(), devices);
    return type;
  }
  std::string whole(int value) const { return with_devices(value, program_.devices).text(); }
  std::string part(int value) const { return with_devices(value, 1).text(); }
  std::string sharding(int value) const {
    std::string text = "<@mesh, [{\"x\"}";
    for (std::size_t d = 0; d < program_.type(value).dims.size(); ++d) text += ", {}";
    return text + "]>";
  }
  template <class Word>
  static std::string list(const std::vector<int>& values, Word word) {
    std::string text;
    for (const int v : values) text += (text.empty() ? "" : ", ") + word(v);
    return text;
  }

  static std::string name(int value) { return "%v" + std::to_string(value); }
  static std::string names(const std::vector<int>& values) {
    std::string text;
    for (const int v : values) text += (text.empty() ? "" : ", ") + name(v);
    return text;
  }
  std::string types(const std::vector<int>& values) const {
    std::string text;
    for (const int v : values) text += (text.empty() ? "" : ", ") + program_.type(v).text();
    return text;
  }
  std::string value_of(const ProgramAttribute& a, const ProgramStep& step) const {
    switch (a.kind) {
      case ProgramAttribute::Kind::kText:
        return a.text;
      case ProgramAttribute::Kind::kArray:
        return a.numbers.empty() ? "array<i64>" : "array<i64: " + list_of(a.numbers) + ">";
      case ProgramAttribute::Kind::kPairs:
        return a.numbers.empty() ? "dense<> : tensor<0x2xi64>" : pairs_of(a.numbers);
      case ProgramAttribute::Kind::kInteger:
        return std::to_string(a.numbers[0]) + " : i64";
      case ProgramAttribute::Kind::kSplat:
        return "dense<" + a.text + "> : " + program_.type(step.results[0]).text();
    }
    return {};
  }
  void add(const ProgramStep& step, const std::string& indent) {
    text_ += indent + names(step.results) + " = \"stablehlo." + step.op + "\"(" +
             names(step.operands) + ")";
    std::string attributes;
    for (const ProgramAttribute& a : step.attributes)
      attributes += (attributes.empty() ? "" : ", ") + a.name + " = " + value_of(a, step);
    if (!attributes.empty()) text_ += " <{" + attributes + "}>";
    for (std::size_t b = 0; b < step.blocks.size(); ++b) {
      text_ += b == 0 ? " ({\n" : ", {\n";
      add(step.blocks[b], indent);
      text_ += indent + "}";
    }
    if (!step.blocks.empty()) text_ += ")";
    text_ += " : (" + types(step.operands) + ") -> ";
    text_ += step.results.size() == 1 ? types(step.results) : "(" + types(step.results) + ")";
    text_ += "\n";
  }
  void add(const ProgramBlock& block, const std::string& indent) {
    if (!block.parameters.empty()) {
      text_ += indent + "^bb0(";
      for (const int p : block.parameters) {
        text_ +=
            (p == block.parameters.front() ? "" : ", ") + name(p) + ": " + program_.type(p).text();
      }
      text_ += "):\n";
    }
    for (const ProgramStep& step : block.steps) add(step, indent + "  ");
    text_ += indent + "  \"stablehlo.return\"(" + names(block.results) + ") : (" +
             types(block.results) + ") -> ()\n";
  }

  const RandomProgram& program_;
  std::string text_;
};

void collect(const ProgramBlock& block, std::set<std::string>* ops, std::size_t& steps) {
  for (const ProgramStep& step : block.steps) {
    ++steps;
    if (ops != nullptr) ops->insert(step.op);
    for (const ProgramBlock& inner : step.blocks) collect(inner, ops, steps);
  }
}

// One floating number: a multiple of 1/8 from -4 to 4, or one of those that are like no other.
double random_number(RandomStream& random, bool special) {
  if (special && random.next() % 4 == 0) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kSpecial[] = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
                                   0.0, -0.0};
    return kSpecial[random.next() % 5];
  }
  return (static_cast<double>(random.next() % 65) - 32) / 8;
}

template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void store_number(std::byte* to, DType type, double value) {
  switch (type) {
    case DType::kF64:
      return store(to, value);
    case DType::kBF16:
    case DType::kF16:
      return store(to,
                   static_cast<std::uint16_t>(devices::stablehlo::ir::encode_float(type, value)));
    default:
      return store(to, static_cast<float>(value));
  }
}

void store_random(std::byte* to, DType type, bool special, RandomStream& random) {
  if (type == DType::kI1) {
    *to = std::byte(random.next() % 2);
  } else if (devices::is_floating(type)) {
    store_number(to, type, random_number(random, special));
  } else if (devices::is_complex(type)) {
    const std::size_t half = devices::byte_width(type) / 2;
    const DType part = type == DType::kC64 ? DType::kF32 : DType::kF64;
    store_number(to, part, random_number(random, special));
    store_number(to + half, part, random_number(random, special));
  } else {
    // Mostly small, of both signs where there are two; now and then any bits.
    std::uint64_t value = random.next() % 8;
    if (devices::is_signed_integer(type)) value -= 3;
    if (random.next() % 16 == 0) value = random.next() * 0x9E3779B97F4A7C15U;
    std::memcpy(to, &value, devices::byte_width(type));
  }
}

}  // namespace

std::int64_t TensorType::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  return count;
}

int RandomProgram::add_value(TensorType type) {
  types.push_back(std::move(type));
  return static_cast<int>(types.size()) - 1;
}

std::size_t RandomProgram::size() const {
  std::size_t steps = 0;
  collect(main, nullptr, steps);
  return steps;
}

std::set<std::string> RandomProgram::ops() const {
  std::set<std::string> names;
  std::size_t steps = 0;
  collect(main, &names, steps);
  return names;
}

std::string RandomProgram::to_text() const { return Printer(*this).print(); }

std::string RandomProgram::to_manual_text() const { return Printer(*this).print_manual(); }

std::vector<HostArray> random_inputs(const RandomProgram& program, int device) {
  std::vector<HostArray> arrays;
  for (const int p : program.main.parameters) {
    const TensorType& type = program.type(p);
    RandomStream random(program.seed, static_cast<std::uint32_t>(p),
                        1 + static_cast<std::uint32_t>(device));
    HostArray array = HostArray::make(type.shape());
    const std::size_t width = devices::byte_width(type.dtype);
    for (std::size_t at = 0; at < array.bytes().size(); at += width) {
      store_random(array.mutable_bytes().data() + at, type.dtype, program.special.contains(p),
                   random);
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace millrace::testing
