// Runs one text by the interpreter and by the planner, for tests of the definitions.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/run_context.h"
#include "millrace/devices/cpu/kernels/base/scalar.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "millrace/devices/cpu/linalg/lapack.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/support/allocation_count.h"
#include "tests/support/interpreter.h"

namespace millrace::devices::cpu::testing {

using Arrays = std::vector<Array>;

inline Result<Arrays> interpreted(const ir::Module& module, const std::string& name,
                                  const Arrays& inputs) {
  return interpret(module, *module.find(name), inputs);
}

inline Result<Arrays> planned(const ir::Module& module, const std::string& name,
                              const Arrays& inputs) {
  MILLRACE_TRY(const auto plan, make_plan(module, {.deterministic = true, .function = name}));
  MILLRACE_TRY(const auto context, RunContext::create(*plan));
  Arrays outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Array& a : inputs) in.push_back(a.bytes.data());
  for (const Shape& s : plan->outputs())
    outputs.push_back({s, std::vector<std::byte>(s.size_bytes())});
  for (Array& a : outputs) out.push_back(a.bytes.data());
  const auto serial = make_serial_parallel();
  MILLRACE_TRY_STATUS(context->run(in, out, *serial));
  if (!millrace::testing::kAllocationsCountable) return outputs;
  millrace::testing::AllocationCount count(
      +[] { return inside_onednn() || linalg::inside_lapack(); });
  MILLRACE_TRY_STATUS(context->run(in, out, *serial));
  EXPECT_EQ(count.count(), 0) << "allocations of a second run\n" << count.stacks();
  return outputs;
}

inline std::string text_of(const Array& a) {
  std::string text = a.shape.to_string() + " [";
  for (std::int64_t i = 0; i < a.shape.elements(); ++i) {
    const DType type = a.shape.dtype();
    const auto s = definition::load(type, &a.bytes[static_cast<std::size_t>(i) * byte_width(type)]);
    if (i > 0) text += ", ";
    char number[64];
    const auto clean = [](double x) { return std::fabs(x) < 1e-15 ? 0.0 : x; };
    if (is_complex(type))
      std::snprintf(number, sizeof number, "(%.9g,%.9g)", clean(s.re), clean(s.im));
    else if (is_floating(type))
      std::snprintf(number, sizeof number, "%.9g", bit_width(type) < 32 ? s.re : clean(s.re));
    else
      std::snprintf(number, sizeof number, "%lld", static_cast<long long>(s.i));
    text += number;
  }
  return text + "]";
}

// "" if both hold the same elements, to nine digits and but for what rounding leaves of a zero; two
// NaN are the same.
inline std::string difference(const Arrays& got, const Arrays& want) {
  if (got.size() != want.size()) return "another number of results";
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string g = text_of(got[i]), w = text_of(want[i]);
    if (got[i].bytes != want[i].bytes && g != w)
      return "result " + std::to_string(i) + ": got " + g + ", expected " + w;
  }
  return "";
}

}  // namespace millrace::devices::cpu::testing
