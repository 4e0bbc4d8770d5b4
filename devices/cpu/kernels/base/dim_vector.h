// Lists of dimensions, strides and the like without allocation, so that kernels can compute views
// while a program runs.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>

#include "millrace/core/base/check.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// At most kCapacity numbers. Thread-safety: external.
template <std::size_t kCapacity>
class FixedList {
 public:
  FixedList() = default;
  explicit FixedList(std::size_t n, std::int64_t value = 0) : size_(n) {
    std::fill_n(data_, n, value);
  }
  FixedList(std::span<const std::int64_t> values)  // NOLINT(google-explicit-constructor)
      : size_(values.size()) {
    MILLRACE_CHECK(size_ <= kCapacity, "a longer list than there are dimensions");
    std::copy(values.begin(), values.end(), data_);
  }

  void push_back(std::int64_t x) {
    MILLRACE_DCHECK(size_ < kCapacity, "more dimensions than a shape may have");
    data_[size_++] = x;
  }
  void push_front(std::int64_t x) {
    push_back(x);
    std::rotate(data_, data_ + size_ - 1, data_ + size_);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t& operator[](std::integral auto i) { return data_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](std::integral auto i) const { return data_[static_cast<std::size_t>(i)]; }
  std::int64_t& back() { return data_[size_ - 1]; }
  std::int64_t back() const { return data_[size_ - 1]; }
  std::int64_t* begin() { return data_; }
  std::int64_t* end() { return data_ + size_; }
  const std::int64_t* begin() const { return data_; }
  const std::int64_t* end() const { return data_ + size_; }
  operator std::span<const std::int64_t>() const {  // NOLINT(google-explicit-constructor)
    return {data_, size_};
  }

 private:
  std::int64_t data_[kCapacity] = {};
  std::size_t size_ = 0;
};
using DimVector = FixedList<kMaxRank + 2>;
using Integers = FixedList<2 * kMaxRank>;  // one or two per dimension

// Row-major strides, in elements, of a dense array.
inline DimVector dense_strides(std::span<const std::int64_t> dims) {
  DimVector strides(dims.size());
  std::int64_t step = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    strides[d] = step;
    step *= dims[d];
  }
  return strides;
}
inline DimVector dense_strides(const Shape& shape) { return dense_strides(shape.dims()); }

inline std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t n = 1;
  for (std::int64_t d : dims) n *= d;
  return n;
}

// Where element `linear`, counted row-major, of a view is.
inline std::int64_t place_of(std::int64_t linear, std::span<const std::int64_t> dims,
                             std::span<const std::int64_t> strides) {
  std::int64_t at = 0;
  for (std::size_t d = dims.size(); d-- > 0;) {
    at += linear % dims[d] * strides[d];
    linear /= dims[d];
  }
  return at;
}

// The index of element `linear`, counted row-major.
inline DimVector index_of(std::int64_t linear, std::span<const std::int64_t> dims) {
  DimVector index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[d] = linear % dims[d];
    linear /= dims[d];
  }
  return index;
}

// Some dimensions of an array, walked as one.
struct Axes {
  DimVector dims, strides;
  std::int64_t size = 1;
  Axes() = default;
  Axes(const Shape& shape, std::span<const std::int64_t> which) {
    const DimVector all = dense_strides(shape);
    for (std::int64_t d : which) {
      dims.push_back(shape.dim(static_cast<int>(d)));
      strides.push_back(all[d]);
      size *= dims.back();
    }
  }
  std::int64_t offset(std::int64_t i) const { return place_of(i, dims, strides); }
};

inline bool contains(std::span<const std::int64_t> list, std::int64_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// Which dimensions of a reduction's operand stay and which are folded.
struct FoldedDims {
  DimVector kept, kept_strides, folded, folded_strides;
  FoldedDims(std::span<const std::int64_t> dims, std::span<const std::int64_t> reduced) {
    const DimVector strides = dense_strides(dims);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const bool fold = contains(reduced, static_cast<std::int64_t>(d));
      (fold ? folded : kept).push_back(dims[d]);
      (fold ? folded_strides : kept_strides).push_back(strides[d]);
    }
  }
};

// The dimensions of an array of `rank` that are in neither list.
inline DimVector other_dims(int rank, std::span<const std::int64_t> some,
                            std::span<const std::int64_t> more) {
  DimVector dims;
  for (int d = 0; d < rank; ++d) {
    if (!contains(some, d) && !contains(more, d)) dims.push_back(d);
  }
  return dims;
}

}  // namespace millrace::devices::cpu
