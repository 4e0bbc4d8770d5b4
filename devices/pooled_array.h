// PooledArray: a fixed number of objects in one pooled block, for what a call carries (arguments,
// seats).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "millrace/core/base/pool.h"

namespace millrace::devices {

// Owns its elements, which are made by default and never move. Thread-safety: external.
template <class T>
class PooledArray {
 public:
  PooledArray() = default;
  explicit PooledArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    data_ = static_cast<T*>(pool_allocate(size * sizeof(T)));
    std::uninitialized_value_construct_n(data_, size);
  }
  explicit PooledArray(std::span<const T> values) : size_(values.size()) {
    if (size_ == 0) return;
    data_ = static_cast<T*>(pool_allocate(size_ * sizeof(T)));
    std::uninitialized_copy_n(values.data(), size_, data_);
  }
  PooledArray(PooledArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PooledArray& operator=(PooledArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~PooledArray() {
    if (data_ == nullptr) return;
    std::destroy_n(data_, size_);
    pool_free(data_, size_ * sizeof(T));
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  std::span<T> span() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace millrace::devices
