// LoopKernel: one fused loop over an iteration space: loads (contiguous, broadcast, strided, iota),
// a TileProgram, and outputs that are stored or reduced. Tiles of at most kTileElements elements
// stay in the first-level cache; parts run in parallel. The split into parts and blocks depends on
// sizes only, so the bits of a result do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/functions/reduce_loops.h"
#include "millrace/devices/cpu/kernels/functions/tile_program.h"

namespace millrace::devices::cpu {

// Where element (i0, i1, ...) of the iteration space comes from: buffer[offset + sum of i_k *
// strides_k], or for an iota the value offset + that sum.
struct LoopInput {
  bool iota = false;
  int buffer = -1;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
};

// A value of the program that leaves the loop: stored dense and row-major, or reduced over
// reduced_dims into a dense array of the other dimensions, starting from the scalar in buffer
// `init`.
struct LoopOutput {
  bool reduce = false;
  TileOp kind = TileOp::kAdd;
  int init = -1;
};

struct LoopSpec {
  std::vector<std::int64_t> dims;
  std::vector<LoopInput> inputs;    // as many as the program's
  TileProgram program;              // finished
  std::vector<LoopOutput> outputs;  // as many as the program's
  // The same for all reduced outputs: leading or trailing dimensions of the space.
  std::vector<bool> reduced;
};

// Thread-safety: immutable.
class LoopKernel {
 public:
  // What one loop can hold: buffers that it names, outputs, and the bytes of what a part keeps on
  // its stack, for tiles of the fewest elements.
  static constexpr std::size_t kMaxBuffers = 64, kMaxOutputs = 64, kFrameBytes = 56 << 10;
  static constexpr int kMinTile = 64;

  // Whether `reduced` is leading or trailing dimensions of dims, those of size 1 aside.
  static bool can_reduce(std::span<const std::int64_t> dims, const std::vector<bool>& reduced);
  // nullopt if the spec cannot run: more than a loop can hold, an element type without loops.
  static std::optional<LoopKernel> make(LoopSpec spec);

  // Scratch that run() needs, 64-byte aligned.
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  // buffers: those that LoopInput and LoopOutput::init name. outputs: one per output.
  void run(std::span<const void* const> buffers, std::span<void* const> outputs, std::byte* scratch,
           Parallel& parallel) const;
  // Whether output o may be written over input i, whose buffer nothing else in this loop reads.
  bool can_overwrite(int output, int input) const;
  int parts() const { return parts_; }

 private:
  enum class Load : std::uint8_t { kContiguous, kSplat, kPeriodic, kStrided };
  struct Input {
    Load load = Load::kStrided;
    LoopInput source;  // strides over the coalesced dims
    int width = 0;
    std::int64_t period = 0;
    std::size_t scratch = 0;  // offset in the frame
  };
  struct Output {
    LoopOutput what;
    ReduceLoops loops;
    int value = -1;
    int width = 0;
    std::size_t lanes = 0;     // offset in the frame: column accumulation
    std::size_t partials = 0;  // offset in the scratch
  };
  // Calls f(output, number) for the reduced outputs.
  template <class F>
  void each_reduced(F f) const {
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      if (outputs_[o].what.reduce) f(outputs_[o], o);
    }
  }
  struct Frame;
  enum class Mode : std::uint8_t { kStore, kRows, kColumns };

  bool few_enough() const;
  void coalesce();
  void classify_inputs();
  bool lay_out();
  void split();
  // What one run reads and writes.
  struct Memory {
    std::span<const void* const> buffers;
    std::span<void* const> outputs;
    std::byte* scratch;
    const std::byte* start(const LoopInput& input, int width) const;
    const void* init(const Output& output) const;
  };
  void run_part(int part, const Memory& m) const;
  void prepare(Frame& frame, const Memory& m) const;
  void run_tile(Frame& frame, std::int64_t start, int n, const Memory& m) const;
  void store_part(Frame& frame, int part, const Memory& m) const;
  void columns_part(Frame& frame, int part, const Memory& m) const;
  void rows_part(Frame& frame, int part, const Memory& m) const;
  void finish(const Memory& m) const;
  // small_loop.cc: nullptr for a loop that is not small.
  struct Small;
  std::shared_ptr<const Small> make_small() const;
  void run_small(const Memory& m) const;

  std::vector<std::int64_t> dims_;  // coalesced
  TileProgram program_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<bool> reduced_;
  Mode mode_ = Mode::kStore;
  std::int64_t elements_ = 1;
  std::int64_t inner_ = 1;   // kRows: length of a row; kColumns: number of columns
  std::int64_t chunks_ = 1;  // kRows: parts of one row, each a partial result
  std::int64_t outer_ = 1;   // kRows: rows; kColumns: rows
  std::int64_t columns_block_ =
      0;  // kColumns: rows that one tile holds, 0 if a row is longer than a tile
  int tile_ = kTileElements;
  int parts_ = 1;
  std::size_t frame_bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
  std::shared_ptr<const Small> small_;
};

}  // namespace millrace::devices::cpu
