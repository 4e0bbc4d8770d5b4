#include "millrace/collectives/collective_program.h"

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "millrace/collectives/outcome.h"

namespace millrace::collectives {
namespace {

using devices::DType;
using devices::Shape;
using Kind = CollectiveCall::Kind;

std::string type_of(DType dtype) { return Shape(dtype, {}).to_string(); }

Shape of_type(const Shape& shape, DType dtype) { return Shape(dtype, shape.dims()); }

std::string_view combiner(ReduceOp op, DType dtype) {
  if (dtype == DType::kI1) return op == ReduceOp::kMin ? "and" : "or";
  if (op == ReduceOp::kMin) return "minimum";
  return op == ReduceOp::kMax ? "maximum" : "add";
}

// The text of @main, line by line; each line defines one value.
class Text {
 public:
  std::string define(const std::string& operation) {
    std::string name = "%v" + std::to_string(next_++);
    body_ += "    " + name + " = " + operation + "\n";
    return name;
  }
  std::string convert(const std::string& value, const Shape& from, const Shape& to) {
    if (from == to) return value;
    return define("stablehlo.convert " + value + " : (" + from.to_string() + ") -> " +
                  to.to_string());
  }
  std::string reshape(const std::string& value, const Shape& from, const Shape& to) {
    if (from == to) return value;
    return define("stablehlo.reshape " + value + " : (" + from.to_string() + ") -> " +
                  to.to_string());
  }
  const std::string& body() const { return body_; }

 private:
  std::string body_;
  int next_ = 0;
};

// All of them in one group, in their order.
std::string groups_of(int ranks) {
  std::string list;
  for (int r = 0; r < ranks; ++r) list += (r == 0 ? "" : ", ") + std::to_string(r);
  return "replica_groups = dense<[[" + list + "]]> : tensor<1x" + std::to_string(ranks) + "xi64>";
}

std::string pairs_of(const CollectiveCall& call) {
  std::string list;
  for (const RankPair& pair : call.pairs) {
    list += (list.empty() ? "[" : ", [") + std::to_string(index(pair.source)) + ", " +
            std::to_string(index(pair.target)) + "]";
  }
  return "source_target_pairs = dense<[" + list + "]> : tensor<" +
         std::to_string(call.pairs.size()) + "x2xi64>";
}

std::string operation(std::string_view name, const std::string& operand,
                      const std::string& attributes, const Shape& from, const Shape& to,
                      const std::string& body = "") {
  return "\"stablehlo." + std::string(name) + "\"(" + operand + ") " + body + "{" + attributes +
         "} : (" + from.to_string() + ") -> " + to.to_string();
}

// Times 1 / ranks, as reduce() makes a mean; a complex number by parts.
std::string scaled(Text& text, const std::string& value, const Shape& shape, int ranks) {
  const Shape part = of_type(shape, devices::part_of(shape.dtype()));
  const std::string type = part.to_string();
  const double exact = 1.0 / ranks;
  const double scale = part.dtype() == DType::kF32 ? static_cast<float>(exact) : exact;
  std::array<char, 40> number{};
  std::snprintf(number.data(), number.size(), "%.17e", scale);
  const std::string factor =
      text.define("stablehlo.constant dense<" + std::string(number.data()) + "> : " + type);
  const auto product = [&](const std::string& of) {
    return text.define("stablehlo.multiply " + of + ", " + factor + " : " + type);
  };
  if (part == shape) return product(value);
  const auto part_of_value = [&](const char* name) {
    return product(text.define("stablehlo." + std::string(name) + " " + value + " : (" +
                               shape.to_string() + ") -> " + type));
  };
  const std::string real = part_of_value("real"), imag = part_of_value("imag");
  return text.define("stablehlo.complex " + real + ", " + imag + " : " + shape.to_string());
}

std::string reduced(Text& text, const CollectiveCall& call, std::string value, const Shape& given,
                    int ranks) {
  const bool sums = call.op == ReduceOp::kSum || call.op == ReduceOp::kMean;
  const bool widens = sums && (given.dtype() == DType::kF16 || given.dtype() == DType::kBF16);
  const DType dtype = widens ? DType::kF32 : given.dtype();
  const Shape from = of_type(given, dtype);
  const Shape to = outcome_of(call, from, static_cast<std::size_t>(ranks)).shape;
  const std::string scalar = type_of(dtype);
  const std::string body = "({\n    ^bb0(%a: " + scalar + ", %b: " + scalar + "):\n" +
                           "      %c = stablehlo." + std::string(combiner(call.op, dtype)) +
                           " %a, %b : " + scalar + "\n      stablehlo.return %c : " + scalar +
                           "\n    }) ";
  const bool scatters = call.kind == Kind::kReduceScatter;
  value = text.convert(value, given, from);
  value = text.define(operation(
      scatters ? "reduce_scatter" : "all_reduce", value,
      (scatters ? "scatter_dimension = 0 : i64, " : "") + groups_of(ranks), from, to, body));
  if (call.op == ReduceOp::kMean) value = scaled(text, value, to, ranks);
  return text.convert(value, to, of_type(to, given.dtype()));
}

std::string gathered(Text& text, std::string value, const Shape& given, const Shape& to,
                     int ranks) {
  const Shape from = given.rank() > 0 ? given : Shape(given.dtype(), {1});
  value = text.reshape(value, given, from);
  return text.define(
      operation("all_gather", value, "all_gather_dim = 0 : i64, " + groups_of(ranks), from, to));
}

}  // namespace

std::optional<devices::Program> collective_program(const CollectiveCall& call, int ranks) {
  const bool is_one_operation = call.kind == Kind::kAllReduce || call.kind == Kind::kAllGather ||
                                call.kind == Kind::kReduceScatter || call.kind == Kind::kAllToAll ||
                                (call.kind == Kind::kCollectivePermute && !call.pairs.empty());
  if (!is_one_operation || call.shapes.empty()) return std::nullopt;
  Text text;
  std::string arguments, results, types;
  for (std::size_t i = 0; i < call.shapes.size(); ++i) {
    const Shape& given = call.shapes[i];
    const Shape to = outcome_of(call, given, static_cast<std::size_t>(ranks)).shape;
    const std::string argument = "%arg" + std::to_string(i);
    std::string value;
    if (call.reduces()) {
      value = reduced(text, call, argument, given, ranks);
    } else if (call.kind == Kind::kAllGather) {
      value = gathered(text, argument, given, to, ranks);
    } else if (call.kind == Kind::kAllToAll) {
      value = text.define(operation("all_to_all", argument,
                                    "split_dimension = 0 : i64, concat_dimension = 0 : i64, "
                                    "split_count = " +
                                        std::to_string(ranks) + " : i64, " + groups_of(ranks),
                                    given, to));
    } else {
      value = text.define(operation("collective_permute", argument, pairs_of(call), given, to));
    }
    const std::string comma = i == 0 ? "" : ", ";
    arguments += comma + argument + ": " + given.to_string();
    results += comma + value;
    types += comma + to.to_string();
  }
  const std::string name(to_string(call.kind));
  return devices::Program::from_text(
      "module @" + name + " attributes {mhlo.num_replicas = " + std::to_string(ranks) +
          " : i32, mhlo.num_partitions = 1 : i32} {\n  func.func public @main(" + arguments +
          ") -> (" + types + ") {\n" + text.body() + "    return " + results + " : " + types +
          "\n  }\n}\n",
      call.to_string());
}

}  // namespace millrace::collectives
