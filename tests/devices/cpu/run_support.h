// Compiles and runs programs in the tests of the CPU device's planner and kernels: text in, arrays
// in and out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/run_context.h"
#include "millrace/devices/stablehlo/text/read_text.h"

namespace millrace::devices::cpu::testing {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes b(values.size() * sizeof(T));
  if (!b.empty()) std::memcpy(b.data(), values.data(), b.size());
  return b;
}
template <class T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> v(bytes.size() / sizeof(T));
  if (!v.empty()) std::memcpy(v.data(), bytes.data(), v.size() * sizeof(T));
  return v;
}

inline std::string read_whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A plan and one context of it. Fails the test if the text does not compile.
class TestProgram {
 public:
  explicit TestProgram(const std::string& text, PlanOptions options = {.deterministic = true}) {
    auto module = stablehlo::text::read_text(text);
    if (!module) throw std::runtime_error(module.error().to_string());
    auto plan = make_plan(*module, options);
    if (!plan) throw std::runtime_error(plan.error().to_string());
    plan_ = *std::move(plan);
    context_ = RunContext::create(*plan_).value();
  }
  static TestProgram from_file(const std::string& path,
                               PlanOptions options = {.deterministic = true}) {
    return TestProgram(read_whole_file(path), options);
  }

  const Plan& plan() const { return *plan_; }
  RunContext& context() { return *context_; }

  std::vector<Bytes> run(const std::vector<Bytes>& inputs) {
    const auto serial = make_serial_parallel();
    return run(inputs, *serial);
  }
  std::vector<Bytes> run(const std::vector<Bytes>& inputs, Parallel& parallel) {
    std::vector<Bytes> outputs;
    std::vector<const void*> in;
    std::vector<void*> out;
    EXPECT_EQ(inputs.size(), plan_->inputs().size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(inputs[i].size(), plan_->inputs()[i].size_bytes()) << "input " << i;
      in.push_back(inputs[i].data());
    }
    for (const Shape& s : plan_->outputs()) outputs.emplace_back(s.size_bytes());
    for (Bytes& b : outputs) out.push_back(b.data());
    const Status status = context_->run(in, out, parallel);
    EXPECT_TRUE(status.has_value()) << status.error().to_string();
    return outputs;
  }

  // The names of the plan's steps, for tests of what was fused or recognised.
  std::vector<std::string> step_names() const {
    std::vector<std::string> names;
    for (const Step& s : plan_->steps()) names.push_back(s.info.name);
    return names;
  }

 private:
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<RunContext> context_;
};

// The error of a text that reads but does not plan.
inline Error plan_error(const std::string& text) {
  auto module = stablehlo::text::read_text(text);
  if (!module) return module.error();
  auto plan = make_plan(*module, {.deterministic = true});
  return plan ? Error(ErrorCode::kUnknown, "the text compiled") : plan.error();
}

// Steps whose names have this part.
inline int count_steps(const TestProgram& p, const std::string& part) {
  const auto names = p.step_names();
  return static_cast<int>(std::count_if(names.begin(), names.end(), [&](const auto& n) {
    return n.find(part) != std::string::npos;
  }));
}

// -3, step - 3, ..., 12 step - 3, over and over.
inline std::vector<float> iota(std::size_t n, float step = 1) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = step * static_cast<float>(i % 13) - 3;
  return v;
}

}  // namespace millrace::devices::cpu::testing
