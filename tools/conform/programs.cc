#include "millrace/tools/conform/programs.h"

namespace millrace::conform {
namespace {

constexpr const char* kType = "tensor<4xf32>";

std::string module(const std::string& name, const std::string& arguments,
                   const std::string& results, const std::string& body) {
  return "module @" + name + " {\n  func.func public @main(" + arguments + ") -> " + results +
         " {\n" + body + "  }\n}\n";
}

std::string type() { return kType; }

std::string one() { return "    %one = stablehlo.constant dense<1.000000e+00> : " + type() + "\n"; }

}  // namespace

std::string increment_program() {
  return module(
      "increment", "%x: " + type(), type(),
      one() + "    %y = stablehlo.add %x, %one : " + type() + "\n    return %y : " + type() + "\n");
}

std::string add_program() {
  return module("add", "%a: " + type() + ", %b: " + type(), type(),
                "    %y = stablehlo.add %a, %b : " + type() + "\n    return %y : " + type() + "\n");
}

std::string identity_program() {
  return module("identity", "%x: " + type(), type(), "    return %x : " + type() + "\n");
}

std::string split_program() {
  return module("split", "%x: " + type(), "(" + type() + ", " + type() + ")",
                "    %s = stablehlo.add %x, %x : " + type() +
                    "\n    %p = stablehlo.multiply %x, %x : " + type() +
                    "\n    return %s, %p : " + type() + ", " + type() + "\n");
}

std::string constant_program() {
  return module("constant", "", type(),
                "    %c = stablehlo.constant dense<7.000000e+00> : " + type() +
                    "\n    return %c : " + type() + "\n");
}

std::string donated_increment_program() {
  return module(
      "donated_increment", "%x: " + type() + " {tf.aliasing_output = 0 : i32}", type(),
      one() + "    %y = stablehlo.add %x, %one : " + type() + "\n    return %y : " + type() + "\n");
}

std::string donated_pair_program() {
  return module("donated_pair",
                "%a: " + type() + " {tf.aliasing_output = 0 : i32}, %b: " + type() +
                    " {tf.aliasing_output = 1 : i32}",
                "(" + type() + ", " + type() + ")",
                one() + "    %c = stablehlo.add %a, %one : " + type() +
                    "\n    %d = stablehlo.add %b, %one : " + type() +
                    "\n    return %c, %d : " + type() + ", " + type() + "\n");
}

std::string sum_over_replicas_program() {
  return module("sum_over_replicas", "%x: " + type(), type(),
                "    %y = \"stablehlo.all_reduce\"(%x) ({\n"
                "    ^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
                "      %s = stablehlo.add %l, %r : tensor<f32>\n"
                "      stablehlo.return %s : tensor<f32>\n"
                "    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (" +
                    type() + ") -> " + type() + "\n    return %y : " + type() + "\n");
}

std::string long_program() {
  const std::string t = "tensor<" + std::to_string(kLongLength) + "xf32>";
  // Multiplied first, so that no compiler folds the additions into one.
  std::string body = "    %step = stablehlo.constant dense<3.125000e-02> : " + t +
                     "\n    %unit = stablehlo.constant dense<1.000000e+00> : " + t + "\n";
  std::string value = "%x";
  for (int i = 0; i < kLongSteps; ++i) {
    const std::string n = std::to_string(i);
    body += "    %m" + n + " = stablehlo.multiply " + value + ", %unit : " + t + "\n";
    body += "    %v" + n + " = stablehlo.add %m" + n + ", %step : " + t + "\n";
    value = "%v" + n;
  }
  return module("long_sum", "%x: " + t, t, body + "    return " + value + " : " + t + "\n");
}

}  // namespace millrace::conform
