// Oracle: one program on the CPU device and on XLA's CPU client, both in this process, and where
// their results differ. What to trust when no expected result is written down.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/devices/client.h"

namespace millrace::testing {

// How far apart results may be: |ours - theirs| <= absolute + relative * |theirs|. Floats and
// complex numbers only; all else is equal or wrong. A NaN equals a NaN.
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-6;
  bool scaled = false;  // absolute is in units of the largest finite element, at least of 1
};

enum class Verdict : std::uint8_t { kSame, kDifferent, kOursRefused, kTheirsRefused };

struct Comparison {
  Verdict verdict = Verdict::kSame;
  std::string words;                             // the first difference, or the error
  std::vector<devices::HostArray> ours, theirs;  // the results, where there are some
};

class Oracle {
 public:
  // nullptr where tests/fetch_plugins has not been.
  static std::unique_ptr<Oracle> open_if_there();
  ~Oracle();

  // Compiles and runs on either; inputs and results in the order of the program's main function.
  Result<std::vector<devices::HostArray>> ours(const devices::Program& program,
                                               std::span<const devices::HostArray> inputs);
  Result<std::vector<devices::HostArray>> theirs(const devices::Program& program,
                                                 std::span<const devices::HostArray> inputs);
  // On several devices of theirs, each with inputs of its own; results by device. Of a program for
  // partitions the inputs are parts of its arrays.
  using PerDevice = std::vector<std::vector<devices::HostArray>>;
  Result<PerDevice> theirs_on_devices(const devices::Program& program, int replicas, int partitions,
                                      std::span<const std::vector<devices::HostArray>> inputs);
  Result<std::vector<devices::Shape>> input_shapes(const devices::Program& program);
  // Nothing where they agree; else the first difference: result, element and both values, or which
  // of them refused.
  std::optional<std::string> difference(const devices::Program& program,
                                        std::span<const devices::HostArray> inputs,
                                        const Tolerance& tolerance = {});
  // The same for a program that is not run again: nothing of it is kept.
  Comparison compare_once(const devices::Program& program,
                          std::span<const devices::HostArray> inputs, const Tolerance& tolerance);

 private:
  Oracle();
  struct State;
  std::unique_ptr<State> state_;
};

// Compares two results alone. Each of `or_else` holds for each element another value that will do.
std::optional<std::string> difference(
    std::span<const devices::HostArray> ours, std::span<const devices::HostArray> theirs,
    const Tolerance& tolerance, std::span<const std::vector<devices::HostArray>> or_else = {});

// Arrays of the program's input shapes from a seed: small numbers, so that sums stay exact enough.
std::vector<devices::HostArray> random_arrays(std::span<const devices::Shape> shapes,
                                              std::uint64_t seed);

}  // namespace millrace::testing
