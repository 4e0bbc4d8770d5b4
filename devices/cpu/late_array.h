// LateArray: the writing end of an array whose bytes come from outside of its device, later. Made
// by CpuClient::make_late.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/cpu/array.h"

namespace millrace::devices::cpu {

// Life: open -> written or failed. Dropped open, it fails with kAborted. The buffer exists from the
// start: launches take it, and wait for its bytes. Thread-safety: external.
class LateArray {
 public:
  LateArray(Buffer buffer, Ref<CpuArray> array, Ref<Block> block)
      : buffer_(std::move(buffer)), array_(std::move(array)), block_(std::move(block)) {}
  LateArray(LateArray&&) noexcept = default;
  LateArray& operator=(LateArray&&) = delete;
  ~LateArray() {
    if (is_open()) fail(Error(ErrorCode::kAborted, "an array was dropped before it was written"));
  }

  const Buffer& buffer() const { return buffer_; }
  bool is_open() const { return static_cast<bool>(array_); }
  // For an open one: unwritten at first.
  std::span<std::byte> bytes() const { return {block_->data(), block_->size()}; }
  // The bytes are final. For an open one, as is fail().
  void write() { CpuArray::write(std::move(array_), std::move(block_)); }
  void fail(const Error& error) {
    block_ = nullptr;
    CpuArray::fail(std::move(array_), error);
  }

 private:
  const Buffer buffer_;
  Ref<CpuArray> array_;  // none: written or failed
  Ref<Block> block_;
};

}  // namespace millrace::devices::cpu
