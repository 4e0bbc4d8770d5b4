// TileProgram: straight-line code over tiles: inputs, splat constants, elementwise ops. It is the
// body of every fused loop, and with one element per tile the evaluator of scalar regions
// (reducers, comparators, scatter computations). Made by the planner, run by loop_kernel.h and
// region kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/devices/cpu/kernels/functions/tile_op.h"

namespace millrace::devices::cpu {

// Values are numbered from 0 in the order in which they are added. Thread-safety: immutable once
// finished.
class TileProgram {
 public:
  static constexpr int kMaxValues = 512;

  int add_input(DType type);
  // The same value in every element; `value` has byte_width(type) bytes.
  int add_constant(DType type, const void* value);
  // -1 if there is no loop for these types.
  int add(TileOp op, std::span<const int> inputs, DType type, std::uint32_t param = 0);
  void add_output(int value) { outputs_.push_back(value); }
  // Joins operations that have a loop in common (TilePair), and assigns scratch. False if there are
  // more than kMaxValues values.
  bool finish();

  // The program that makes `value` of one input alone, finished; none if `value` takes others. Two
  // that compute the same in the same way are equal. Its order is its own: it may need more scratch
  // than the whole.
  std::optional<TileProgram> slice(int value, int input) const;
  bool operator==(const TileProgram&) const = default;

  int values() const { return static_cast<int>(values_.size()); }
  DType dtype(int value) const { return values_[static_cast<std::size_t>(value)].type; }
  std::span<const int> inputs() const { return inputs_; }
  std::span<const int> outputs() const { return outputs_; }
  int instructions() const { return static_cast<int>(code_.size()); }
  // The index of the instruction that makes the value, -1 for inputs and constants.
  int producer(int value) const { return values_[static_cast<std::size_t>(value)].producer; }
  // The index of the last instruction that reads the value; instructions() for an output.
  int last_use(int value) const;
  // Scratch that one element of a tile takes: a tile of t elements (a multiple of 64) needs t times
  // as much.
  std::size_t scratch_bytes_per_element() const { return scratch_bytes_; }

  // Points every constant and result into scratch (64-byte aligned, laid out for tiles of up to
  // `tile` elements) and fills the first n elements of the constants. Inputs are left to the
  // caller, who may redirect results too.
  void bind(std::byte* scratch, void** pointers, int tile, int n) const;
  void run(void* const* pointers, int n) const {
    for (const Instruction& i : code_) {
      const void* ins[kMostInputs] = {pointers[i.inputs[0]], pointers[i.inputs[1]],
                                      pointers[i.inputs[2]], pointers[i.inputs[3]]};
      i.loop(pointers[i.out], ins, n, i.param);
    }
  }

 private:
  struct Value {
    DType type;
    int producer = -1;
    bool input = false;
    int constant = -1;       // offset in constants_
    std::size_t offset = 0;  // per element of the tile

    bool operator==(const Value&) const = default;
  };
  static constexpr std::size_t kMostInputs = 4;  // of operations that are joined
  struct Instruction {
    TileLoop loop;
    TileOp op;  // of those that are joined: the last
    std::uint32_t param;
    std::uint16_t out;
    std::uint16_t inputs[kMostInputs];  // the last one again where it takes fewer
    std::uint8_t input_count;

    bool operator==(const Instruction&) const = default;
  };

  void join();
  std::vector<Value> values_;
  std::vector<int> inputs_;
  std::vector<int> outputs_;
  std::vector<Instruction> code_;
  std::vector<std::byte> constants_;
  std::size_t scratch_bytes_ = 0;
};

// dst[0..n) = the value of `width` bytes at `value`.
void fill_splat(void* dst, const void* value, std::size_t width, std::int64_t n);

}  // namespace millrace::devices::cpu
