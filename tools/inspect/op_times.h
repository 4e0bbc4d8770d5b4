// Where the time of a run goes, per kind of step: on the CPU device, one program alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/program.h"

namespace millrace::devices::cpu {
class Plan;
}

namespace millrace::inspect {

// A kind of step in one run.
struct OpTime {
  std::string name;
  std::uint64_t count = 0;  // steps of this kind that a run takes, each round of a loop anew
  double ms = 0;            // sum over them of the median over the runs, without what they run
  std::size_t bytes = 0;    // read and written, each array of a step once
  double operations = 0;    // arithmetic on elements; 0: not counted
};

struct OpTimes {
  std::vector<OpTime> kinds;  // by time, the largest first
  double run_ms = 0;          // median over the runs of the whole
  int runs = 0;

  std::string to_text() const;
  std::string to_json() const;  // one line
};

// Bytes of an argument for runs without given ones: floats in [-1, 1), whole numbers from 0 to 9,
// always the same ones.
std::vector<std::byte> random_bytes(const devices::Shape& shape, std::uint32_t argument);

// The shapes of @main's arguments, as the program has been planned.
class TimedProgram {
 public:
  // shapes: of the arguments, where the program leaves them open. Errors as inspect();
  // kUnimplemented for what the CPU device does not run.
  static Result<TimedProgram> create(const devices::Program& program, bool deterministic,
                                     std::span<const devices::Shape> shapes = {});
  TimedProgram(TimedProgram&&) noexcept;
  ~TimedProgram();

  std::span<const devices::Shape> inputs() const;
  // Blocks. Runs twice before it counts. inputs: dense, as many as inputs(). kCancelled between two
  // runs.
  Result<OpTimes> run(std::span<const void* const> inputs, int runs, Parallel& parallel,
                      const std::stop_token& stop) const;

 private:
  explicit TimedProgram(std::unique_ptr<devices::cpu::Plan> plan);
  std::unique_ptr<devices::cpu::Plan> plan_;
};

}  // namespace millrace::inspect
