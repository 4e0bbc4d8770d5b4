// Runs a program as it is planned, with its donated inputs overwritten and without, and tells
// whether it makes what its operations are defined to make.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/devices/cpu/run_support.h"
#include "tests/support/interpreter.h"

namespace millrace::devices::cpu::testing {

// For each of these values of the program's first argument, which is a number; the other arguments
// and the results are of i32.
inline void expect_definition(const std::string& text, const std::vector<std::int32_t>& numbers) {
  TestProgram p(text);
  const auto module = stablehlo::text::read_text(text);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  for (const std::int32_t n : numbers) {
    std::vector<Bytes> given = {bytes_of<std::int32_t>({n})};
    for (std::size_t i = 1; i < p.plan().inputs().size(); ++i) {
      std::vector<std::int32_t> v(static_cast<std::size_t>(p.plan().inputs()[i].elements()));
      for (std::size_t k = 0; k < v.size(); ++k)
        v[k] = static_cast<std::int32_t>((k * 31 + i * 7) % 101);
      given.push_back(bytes_of(v));
    }
    std::vector<Array> arrays;
    for (std::size_t i = 0; i < given.size(); ++i)
      arrays.push_back({p.plan().inputs()[i], given[i]});
    const auto want = interpret(*module, module->functions().front(), std::move(arrays));
    ASSERT_TRUE(want.has_value()) << want.error().to_string();
    for (const bool donate : {false, true}) {
      std::vector<Bytes> in = given, out;
      std::vector<const void*> from;
      std::vector<void*> to;
      std::vector<bool> overwritten(in.size(), false);
      for (const Shape& s : p.plan().outputs()) out.emplace_back(s.size_bytes());
      for (const Bytes& b : in) from.push_back(b.data());
      for (Bytes& b : out) to.push_back(b.data());
      for (const OutputAlias& a : p.plan().aliases()) {
        if (!donate) break;
        to[static_cast<std::size_t>(a.output)] = in[static_cast<std::size_t>(a.input)].data();
        overwritten[static_cast<std::size_t>(a.input)] = true;
      }
      const auto serial = make_serial_parallel();
      const Status status = p.context().run(from, to, *serial);
      ASSERT_TRUE(status.has_value()) << status.error().to_string();
      for (std::size_t o = 0; o < to.size(); ++o) {
        ASSERT_EQ(std::memcmp(to[o], (*want)[o].bytes.data(), (*want)[o].bytes.size()), 0)
            << "output " << o << " of " << n << (donate ? ", donated" : "") << "\n"
            << text;
      }
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (overwritten[i]) continue;
        ASSERT_EQ(in[i], given[i]) << "input " << i << " was written\n" << text;
      }
    }
  }
}

}  // namespace millrace::devices::cpu::testing
