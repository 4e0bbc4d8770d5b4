#include "millrace/devices/cpu/kernels/convolution/gemm_convolution.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/base/element.h"

namespace millrace::devices::cpu {
namespace {

constexpr std::int64_t kPatchBytes = 512 << 10;  // of a chunk's patches: they stay in a cache
constexpr std::int64_t kMostRows = 256, kRowGrain = 16;
constexpr std::int64_t kMaxParts = 8;
constexpr std::int64_t kRun = 8;  // outputs that are copied at once where they are neighbours

std::size_t align64(std::size_t n) { return (n + 63) & ~std::size_t{63}; }

// More than an integer may count, where arrays are of any size.
double multiply_adds(const ConvolutionDims& dims, const Shape& rhs, const Shape& result) {
  return static_cast<double>(rhs.dim(static_cast<int>(dims.kernel_input_feature))) *
         static_cast<double>(Axes(rhs, dims.kernel_spatial).size) *
         static_cast<double>(result.elements());
}

}  // namespace

bool GemmConvolution::fits(const ConvolutionDims& dims, const Shape& lhs, const Shape& rhs,
                           const Shape& result) {
  return lhs.dtype() == result.dtype() && rhs.dtype() == result.dtype() &&
         can_gemm(lhs.dtype(), rhs.dtype(), result.dtype()) && dims.batch_groups == 1 &&
         multiply_adds(dims, rhs, result) > kPlainWork;
}

GemmConvolution::GemmConvolution(const ConvolutionDims& dims, const Shape& lhs, const Shape& rhs,
                                 const Shape& result)
    : type_(result.dtype()), width_(byte_width(result.dtype())), groups_(dims.feature_groups) {
  const DimVector in = dense_strides(lhs), weights = dense_strides(rhs),
                  out = dense_strides(result);
  const auto extent = [](const Shape& s, std::int64_t d) { return s.dim(static_cast<int>(d)); };
  for (std::size_t s = 0; s < dims.input_spatial.size(); ++s) {
    const Index i = dims.input_spatial[s], o = dims.output_spatial[s], k = dims.kernel_spatial[s];
    spatial_.push_back({.in = extent(lhs, i),
                        .out = extent(result, o),
                        .window = extent(rhs, k),
                        .in_stride = in[i],
                        .out_stride = out[o],
                        .window_stride = weights[k],
                        .step = dims.strides[s],
                        .low = dims.pad_low[s],
                        .in_dilation = dims.lhs_dilation[s],
                        .window_dilation = dims.rhs_dilation[s],
                        .reversed = dims.reversal[s]});
    places_ *= spatial_.back().out;
    window_ *= spatial_.back().window;
  }
  images_ = extent(lhs, dims.input_batch);
  inputs_ = extent(rhs, dims.kernel_input_feature);
  outputs_ = extent(rhs, dims.kernel_output_feature) / groups_;
  in_image_ = in[dims.input_batch];
  in_feature_ = in[dims.input_feature];
  out_image_ = out[dims.output_batch];
  out_feature_ = out[dims.output_feature];
  rhs_in_ = weights[dims.kernel_input_feature];
  rhs_out_ = weights[dims.kernel_output_feature];
  by_feature_ = in_feature_ == 1 && inputs_ > 1;
  const Index terms = window_ * inputs_;
  const Index fitting = kPatchBytes / (terms * static_cast<Index>(width_)) / kRowGrain * kRowGrain;
  rows_ = std::min(std::clamp(fitting, kRowGrain, kMostRows), places_);
  chunks_ = (places_ + rows_ - 1) / rows_;
  parts_ = std::min(kMaxParts, images_ * groups_ * chunks_);
  const auto gemm_of = [&](Index rows) {
    const MatmulSpec spec{.m = rows,
                          .n = outputs_,
                          .k = terms,
                          .a_batch = 0,
                          .a_row = by_feature_ ? terms : 1,
                          .a_column = by_feature_ ? 1 : rows_,
                          .b_batch = 0,
                          .b_row = outputs_,
                          .b_column = 1,
                          .c_batch = 0,
                          .c_row = outputs_};
    return std::make_unique<Gemm>(spec, type_, type_, type_, false);
  };
  full_ = gemm_of(rows_);
  last_ = gemm_of(places_ - (chunks_ - 1) * rows_);
}

std::int64_t GemmConvolution::places_row() const { return rows_ + (rows_ + kRun - 1) / kRun; }
std::size_t GemmConvolution::weights_bytes() const {
  return align64(static_cast<std::size_t>(groups_ * window_ * inputs_ * outputs_) * width_);
}
// Places of the window, patches, sums, and what a product needs.
std::size_t GemmConvolution::part_bytes() const {
  return align64(static_cast<std::size_t>(window_ * places_row()) * sizeof(Index)) +
         align64(static_cast<std::size_t>(window_ * inputs_ * rows_) * width_) +
         align64(static_cast<std::size_t>(outputs_ * rows_) * width_) +
         align64(std::max(full_->scratch_bytes(), last_->scratch_bytes()));
}
std::size_t GemmConvolution::scratch_bytes() const {
  return weights_bytes() + static_cast<std::size_t>(parts_) * part_bytes();
}

GemmConvolution::Chunk GemmConvolution::chunk(Index i) const {
  const Index first = i % chunks_ * rows_, rest = i / chunks_;
  return {.image = rest / groups_,
          .group = rest % groups_,
          .first = first,
          .count = std::min(rows_, places_ - first)};
}

// [group, window, input, output].
template <class T>
void GemmConvolution::gather_weights(const T* rhs, T* weights) const {
  for (Index g = 0; g < groups_; ++g) {
    for (Index w = 0; w < window_; ++w) {
      Index from = g * outputs_ * rhs_out_, rest = w;
      for (std::size_t s = spatial_.size(); s-- > 0;) {
        const Spatial& d = spatial_[s];
        const Index k = rest % d.window;
        from += (d.reversed ? d.window - 1 - k : k) * d.window_stride;
        rest /= d.window;
      }
      for (Index i = 0; i < inputs_; ++i) {
        for (Index o = 0; o < outputs_; ++o) *weights++ = rhs[from + i * rhs_in_ + o * rhs_out_];
      }
    }
  }
}

// For each place of the window a row: where the first feature is that it shows each output of the
// chunk, from where the image begins, or kOutside; then for every kRun of them whether they are
// neighbours.
void GemmConvolution::find_places(const Chunk& chunk, Index* places) const {
  const std::size_t rank = spatial_.size();
  for (Index w = 0; w < window_; ++w) {
    Index* const row = places + w * places_row();
    // Index of the output, and where the window's place begins.
    Index out[kMaxRank] = {}, shift[kMaxRank] = {}, rest = chunk.first, in = w;
    for (std::size_t s = rank; s-- > 0;) {
      const Spatial& d = spatial_[s];
      out[s] = rest % d.out;
      rest /= d.out;
      shift[s] = in % d.window * d.window_dilation - d.low;
      in /= d.window;
    }
    // A line at a time: outputs that differ in the last dimension only.
    for (Index p = 0; p < chunk.count;) {
      Index at = 0;
      for (std::size_t s = 0; s + 1 < rank && at != kOutside; ++s) {
        const Index i = spatial_[s].shown(out[s] * spatial_[s].step + shift[s]);
        at = i == kOutside ? kOutside : at + i * spatial_[s].in_stride;
      }
      Index line = 1;
      if (rank == 0) {
        row[p] = at;
      } else {
        const Spatial& last = spatial_[rank - 1];
        line = std::min(last.out - out[rank - 1], chunk.count - p);
        find_line(last, out[rank - 1] * last.step + shift[rank - 1], at, line, row + p);
        out[rank - 1] += line - 1;
      }
      p += line;
      for (std::size_t s = rank; s-- > 0;) {
        if (++out[s] < spatial_[s].out) break;
        out[s] = 0;
      }
    }
    for (Index p = 0; p + kRun <= chunk.count; p += kRun) {
      Index apart = 0;
      for (Index j = 0; j < kRun; ++j) apart |= row[p + j] - row[p] - j;
      row[rows_ + p / kRun] = row[p] != kOutside && apart == 0 ? 1 : 0;
    }
  }
}

// The places of a line of outputs, of which the window shows `padded` of the last dimension to the
// first one; `base`: where the line is by the other dimensions, or kOutside.
void GemmConvolution::find_line(const Spatial& d, Index padded, Index base, Index line,
                                Index* places) {
  if (base == kOutside || d.in_dilation != 1) {
    for (Index j = 0; j < line; ++j, padded += d.step) {
      const Index i = base == kOutside ? kOutside : d.shown(padded);
      places[j] = i == kOutside ? kOutside : base + i * d.in_stride;
    }
    return;
  }
  // Those inside are neighbours: [first, last).
  const auto reach = [&](Index to) {
    return std::clamp<Index>(to <= padded ? 0 : (to - padded + d.step - 1) / d.step, 0, line);
  };
  const Index first = reach(0), last = reach(d.in);
  std::fill_n(places, first, kOutside);
  const Index start = base + padded * d.in_stride, step = d.step * d.in_stride;
  for (Index j = first; j < last; ++j) places[j] = start + j * step;
  std::fill(places + last, places + line, kOutside);
}

template <class T>
void GemmConvolution::gather(const Chunk& chunk, const T* lhs, const Index* places,
                             T* patches) const {
  const T* const image = lhs + chunk.image * in_image_ + chunk.group * inputs_ * in_feature_;
  for (Index w = 0; w < window_; ++w) {
    const Index* const from = places + w * places_row();
    const Index* const run = from + rows_;
    if (by_feature_) {
      for (Index p = 0; p < chunk.count; ++p) {
        T* const to = patches + (p * window_ + w) * inputs_;
        if (from[p] == kOutside)
          std::memset(to, 0, static_cast<std::size_t>(inputs_) * sizeof(T));
        else
          std::memcpy(to, image + from[p], static_cast<std::size_t>(inputs_) * sizeof(T));
      }
      continue;
    }
    for (Index i = 0; i < inputs_; ++i) {
      T* const to = patches + (w * inputs_ + i) * rows_;
      const T* const feature = image + i * in_feature_;
      Index p = 0;
      for (; p + kRun <= chunk.count; p += kRun) {
        if (run[p / kRun] != 0) {
          std::memcpy(to + p, feature + from[p], kRun * sizeof(T));
          continue;
        }
        for (Index j = p; j < p + kRun; ++j) to[j] = from[j] == kOutside ? T{} : feature[from[j]];
      }
      for (; p < chunk.count; ++p) to[p] = from[p] == kOutside ? T{} : feature[from[p]];
    }
  }
}

template <class T>
void GemmConvolution::scatter(const Chunk& chunk, const T* sums, T* result) const {
  T* const first = result + chunk.image * out_image_ + chunk.group * outputs_ * out_feature_;
  for (Index p = 0; p < chunk.count; ++p) {
    Index to = 0, out = chunk.first + p;
    for (std::size_t s = spatial_.size(); s-- > 0;) {
      to += out % spatial_[s].out * spatial_[s].out_stride;
      out /= spatial_[s].out;
    }
    for (Index o = 0; o < outputs_; ++o) first[to + o * out_feature_] = sums[p * outputs_ + o];
  }
}

template <class T>
void GemmConvolution::run_as(const T* lhs, const T* rhs, T* result, std::byte* scratch,
                             Parallel& parallel) const {
  T* const weights = reinterpret_cast<T*>(scratch);
  gather_weights(rhs, weights);
  const Index all = images_ * groups_ * chunks_;
  const auto part = [&](Index number) {
    std::byte* memory = scratch + weights_bytes() + static_cast<std::size_t>(number) * part_bytes();
    const auto take = [&](Index elements, std::size_t width) {
      std::byte* const taken = memory;
      memory += align64(static_cast<std::size_t>(elements) * width);
      return taken;
    };
    auto* const places = reinterpret_cast<Index*>(take(window_ * places_row(), sizeof(Index)));
    auto* const patches = reinterpret_cast<T*>(take(window_ * inputs_ * rows_, sizeof(T)));
    auto* const sums = reinterpret_cast<T*>(take(outputs_ * rows_, sizeof(T)));
    for (Index i = all * number / parts_; i < all * (number + 1) / parts_; ++i) {
      const Chunk c = chunk(i);
      find_places(c, places);
      gather(c, lhs, places, patches);
      const T* const of_group = weights + c.group * window_ * inputs_ * outputs_;
      // It is on one thread already.
      (c.count == rows_ ? full_ : last_)->run(patches, of_group, sums, memory, parallel);
      scatter(c, sums, result);
    }
  };
  parallel.run(static_cast<int>(parts_), part);
}

void GemmConvolution::run(const void* lhs, const void* rhs, void* result, std::byte* scratch,
                          Parallel& parallel) const {
  with_width(width_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_as(static_cast<const T*>(lhs), static_cast<const T*>(rhs), static_cast<T*>(result), scratch,
           parallel);
  });
}

}  // namespace millrace::devices::cpu
