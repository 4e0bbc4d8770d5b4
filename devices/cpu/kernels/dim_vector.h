// DimVector: a list of at most kMaxRank + 2 numbers (dimensions, strides) without allocation, so
// that kernels can compute views while a program runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "millrace/core/check.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// Thread-safety: external.
class DimVector {
 public:
  DimVector() = default;
  explicit DimVector(std::size_t n, std::int64_t value = 0) : size_(n) {
    std::fill_n(data_, n, value);
  }
  DimVector(std::span<const std::int64_t> values)  // NOLINT(google-explicit-constructor)
      : size_(values.size()) {
    MILLRACE_DCHECK(size_ <= kCapacity, "more dimensions than a shape may have");
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
  std::int64_t& operator[](std::size_t i) { return data_[i]; }
  std::int64_t operator[](std::size_t i) const { return data_[i]; }
  std::int64_t& back() { return data_[size_ - 1]; }
  std::int64_t back() const { return data_[size_ - 1]; }
  std::int64_t* begin() { return data_; }
  std::int64_t* end() { return data_ + size_; }
  const std::int64_t* begin() const { return data_; }
  const std::int64_t* end() const { return data_ + size_; }
  operator std::span<const std::int64_t>() const {
    return {data_, size_};
  }  // NOLINT(google-explicit-constructor)

 private:
  static constexpr std::size_t kCapacity = kMaxRank + 2;
  std::int64_t data_[kCapacity] = {};
  std::size_t size_ = 0;
};

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

inline bool contains(std::span<const std::int64_t> list, std::int64_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

}  // namespace millrace::devices::cpu
