// GemmConvolution: convolutions of the element types of gemm.h, as products of matrices: the places
// of some outputs by what the window shows of them, zeros where that is padding or a gap, times the
// weights. As padding is zeros, an infinite weight makes NaN of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/contraction/contraction.h"
#include "millrace/devices/cpu/kernels/contraction/gemm.h"

namespace millrace::devices::cpu {

// Thread-safety: immutable.
class GemmConvolution {
 public:
  // Whether it is for this: of operands and a result of one type that can_gemm, without batch
  // groups, and of more than kPlainWork multiply-adds.
  static bool fits(const ConvolutionDims& dims, const Shape& lhs, const Shape& rhs,
                   const Shape& result);
  // The convolution must fit.
  GemmConvolution(const ConvolutionDims& dims, const Shape& lhs, const Shape& rhs,
                  const Shape& result);

  // 64-byte aligned scratch of one execution.
  std::size_t scratch_bytes() const;
  void run(const void* lhs, const void* rhs, void* result, std::byte* scratch,
           Parallel& parallel) const;

 private:
  using Index = std::int64_t;
  static constexpr Index kOutside = -1;
  struct Spatial {
    Index in, out, window;                          // extents
    Index in_stride, out_stride, window_stride;     // in elements
    Index step, low, in_dilation, window_dilation;  // of the window
    bool reversed;

    // The element of the operand that lies here, with padding and gaps; kOutside if none does.
    Index shown(Index padded) const {
      const Index i = in_dilation == 1 ? padded : padded / in_dilation;
      return padded >= 0 && i * in_dilation == padded && i < in ? i : kOutside;
    }
  };
  // Outputs [first, first + count) of an image and a group of features.
  struct Chunk {
    Index image, group, first, count;
  };
  Chunk chunk(Index i) const;
  template <class T>
  void run_as(const T* lhs, const T* rhs, T* result, std::byte* scratch, Parallel& parallel) const;
  template <class T>
  void gather_weights(const T* rhs, T* weights) const;
  void find_places(const Chunk& chunk, Index* places) const;
  static void find_line(const Spatial& d, Index padded, Index base, Index line, Index* places);
  template <class T>
  void gather(const Chunk& chunk, const T* lhs, const Index* places, T* patches) const;
  template <class T>
  void scatter(const Chunk& chunk, const T* sums, T* result) const;
  Index places_row() const;
  std::size_t weights_bytes() const;
  std::size_t part_bytes() const;

  std::vector<Spatial> spatial_;
  DType type_;
  std::size_t width_;                         // of an element, in bytes
  Index images_, groups_, inputs_, outputs_;  // inputs and outputs of a group
  Index places_ = 1, window_ = 1;             // outputs of an image; places of the window
  Index in_image_, in_feature_, out_image_, out_feature_, rhs_in_, rhs_out_;  // strides
  Index rows_, chunks_, parts_;  // outputs of a chunk, chunks of an image and group, parts
  bool by_feature_;              // patches: [place, window, feature], else [window, feature, place]
  std::unique_ptr<Gemm> full_, last_;  // of whole chunks and of the last one
};

}  // namespace millrace::devices::cpu
