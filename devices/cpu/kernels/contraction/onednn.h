// oneDNN inside the CPU device: matmul and convolution of f32, forward and both gradients, split
// into parts of our own (never an OpenMP team) with one shared primitive per part size. Layouts are
// the program's, by strides; weights may be reordered. Only onednn*.cc include oneDNN's headers.
//
// A kernel is immutable and shared. What one execution needs (memory objects, streams) is its
// OneDnnState, made once per run context. oneDNN itself allocates a few small blocks in each call
// of a primitive; a OneDnnScope marks these calls, so that a test can separate its allocations from
// ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/error.h"

namespace millrace::devices::cpu {

// True on this thread while a oneDNN call runs.
bool inside_onednn();

// What one execution of one kernel needs beside its buffers. Thread-safety: confined.
class OneDnnState {
 public:
  virtual ~OneDnnState() = default;
};

// One planned oneDNN computation. Thread-safety: immutable.
class OneDnnKernel {
 public:
  virtual ~OneDnnKernel() = default;
  // kResourceExhausted where there is no memory for it.
  virtual Result<std::unique_ptr<OneDnnState>> make_state() const = 0;
  // 64-byte aligned scratch of one execution.
  virtual std::size_t scratch_bytes() const = 0;
  virtual void run(OneDnnState& state, std::span<const void* const> inputs, void* output,
                   std::byte* scratch, Parallel& parallel) const = 0;
};

// c[b, i, j] = sum over k of a[b, i, k] * b[b, k, j], each with strides in elements. c is dense in
// its last dimension.
struct MatmulSpec {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  std::int64_t a_batch = 0, a_row = 0, a_column = 0;
  std::int64_t b_batch = 0, b_row = 0, b_column = 0;
  std::int64_t c_batch = 0, c_row = 0;
};
// kUnimplemented: oneDNN has none; kResourceExhausted: it would not get the memory that it ends
// the process without (core/base/memory_left.h). The same of the others below.
Result<std::unique_ptr<OneDnnKernel>> make_matmul(const MatmulSpec& spec);

// Three computations on (source [n, ic, spatial], weights [oc, ic / groups, kernel], destination
// [n, oc, out]):
//   forward: source, weights -> destination
//   backward data: destination's gradient, weights -> source's gradient
//   backward weights: source, destination's gradient -> weights' gradient
enum class ConvolutionKind : std::uint8_t { kForward, kBackwardData, kBackwardWeights };
struct ConvolutionSpec {
  ConvolutionKind kind = ConvolutionKind::kForward;
  std::int64_t n = 1, ic = 1, oc = 1, groups = 1;
  std::vector<std::int64_t> in, out, kernel;                        // spatial extents
  std::vector<std::int64_t> strides, dilations, pad_low, pad_high;  // dilations from 1
  // Strides in elements: batch, channel, spatial...; weights: output channel, input channel,
  // spatial...
  std::vector<std::int64_t> source_strides, weights_strides, destination_strides;
};
// Where several ways of laying out the operands exist, the fastest in a trial of a convolution that
// is not large is taken, unless `deterministic` asks for the same choice every time. milliseconds:
// the time of the trial, 0 if there was none. way: which of the ways it is.
struct ConvolutionChoice {
  std::unique_ptr<OneDnnKernel> kernel;
  double milliseconds = 0;
  int way = 0;
};
Result<ConvolutionChoice> make_convolution(const ConvolutionSpec& spec, bool deterministic);
// The one that was chosen before, without a trial; kInvalidArgument for a way that there is not.
Result<ConvolutionChoice> make_convolution_again(const ConvolutionSpec& spec, int way);

// The version of the library that is loaded.
std::string onednn_version();

// The multiply-adds of a convolution, times two.
double convolution_flops(const ConvolutionSpec& spec);

}  // namespace millrace::devices::cpu
