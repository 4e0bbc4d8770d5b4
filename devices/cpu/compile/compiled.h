// Compiled: what the CPU client runs: a program after read, verify and plan, and the runs of it.
// The client knows nothing else about programs. Read next: client.h (who runs it), compile/plan.h
// (what stands behind it).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/devices/client.h"
#include "millrace/devices/collective_backend.h"
#include "millrace/devices/cpu/compile/device_parts.h"

namespace millrace::devices::cpu {

// What a compilation has found out by measuring, so that the next one of the same program need not:
// which form of a convolution, in which layout of its operands.
struct KernelChoice {
  int form = -1;  // of convolution_forms; -1: no kernel of oneDNN
  int way = -1;   // of make_convolution
  bool operator==(const KernelChoice&) const = default;
};

// One per convolution, in the order in which their steps are made.
using KernelChoices = std::vector<KernelChoice>;

// What a client knows of a compilation beside its options.
struct CompileContext {
  // What choices() of the result gave when the program was compiled before with these options, by
  // this build on this processor: it is not measured again.
  const KernelChoices* chosen = nullptr;
  int process = 0;  // which of CompileOptions::processes this is
};

// Dense, row-major; outputs aligned to kBlockAlignment, inputs at least to kInputAlignment. An
// output may be the block of the input that it aliases, else they do not overlap. All of it stays
// as it is until the run is done.
struct RunCall {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  Parallel& parallel;
  FunctionRef<void(int)> output_written;  // once per output, as soon as its bytes are final
  std::stop_token stop;                   // gives kCancelled between steps
  ProcessLaunch* launch = nullptr;        // of a program that spans processes
};

enum class RunState {
  kDone,
  kWaits,  // for what another process gives: resume() once there is reason (ProcessLaunch::await)
};

// The memory of one execution at a time. Thread-safety: confined.
class CompiledRun {
 public:
  virtual ~CompiledRun() = default;
  // From the beginning, whatever was before.
  virtual Result<RunState> run(const RunCall& call) = 0;
  // Goes on after kWaits, with the same call.
  virtual Result<RunState> resume(const RunCall& /*call*/) { return RunState::kDone; }
};

// What one execution costs, as far as it is counted: arithmetic on elements (a multiply-add is
// two), and bytes that its steps read and write.
struct RunCost {
  double operations = 0;
  double bytes = 0;
};

// Output `output` may be given the block of input `input`: it is written after that input's last
// read.
struct OutputAlias {
  int output = 0;
  int input = 0;
};

// Thread-safety: immutable.
class Compiled {
 public:
  virtual ~Compiled() = default;
  // With dimensions that are not known (shape.h) in a program of dynamic shapes, which is
  // run by what refined() gives.
  virtual std::span<const Shape> inputs() const = 0;
  virtual std::span<const Shape> outputs() const = 0;
  // Inputs that the program donates.
  virtual std::span<const int> donated() const = 0;
  // The program for arguments of these shapes, complete ones that inputs() admits. Errors are those
  // of specialise (stablehlo/specialise); kUnimplemented for a program of static shapes.
  virtual Result<std::shared_ptr<const Compiled>> refined(std::span<const Shape> /*inputs*/) const {
    return fail(ErrorCode::kUnimplemented, "the shapes of this program are static");
  }
  // Makes what runs need where that was left for the first of them; what is below comes after it.
  // Any thread; it is made once, and every call returns how that went.
  virtual Status prepare() const { return {}; }
  // Which outputs may be written over which donated inputs.
  virtual std::span<const OutputAlias> aliases() const = 0;
  virtual std::size_t temporary_bytes() const = 0;  // of one CompiledRun
  virtual Result<std::unique_ptr<CompiledRun>> make_run() const = 0;
  // nullopt for a program of dynamic shapes. Rounds of a while are counted as none.
  virtual std::optional<RunCost> cost() const { return std::nullopt; }
  // What was measured to choose between kernels: for the next compilation.
  virtual KernelChoices choices() const { return {}; }
  // What the devices of a program for several have of the one that runs for all of them, which all
  // above is about; nullptr for a program for one.
  virtual const DeviceParts* device_parts() const { return nullptr; }
};

}  // namespace millrace::devices::cpu
