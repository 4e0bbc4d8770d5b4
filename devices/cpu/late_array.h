// LateArray: the writing end of an array whose bytes come later: from outside of its device, or in
// the memory of another array. Made by CpuClient::make_late and make_alias.
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
  // For an open one that make_late() made: unwritten at first.
  std::span<std::byte> bytes() const { return {block_->data(), block_->size()}; }
  // The bytes are final. For an open one, as is fail().
  void write() { CpuArray::write(std::move(array_), std::move(block_)); }
  void fail(const Error& error) {
    block_ = nullptr;
    CpuArray::fail(std::move(array_), error);
  }
  // For an open one: it becomes the memory of source, which is removed, when source and `after` are
  // ready; their errors are its own. Nothing has changed where this fails: kInvalidArgument for a
  // source of another device or size, kFailedPrecondition for one that was removed before.
  Status take_over(const Buffer& source, const Future<void>& after);

 private:
  const Buffer buffer_;
  Ref<CpuArray> array_;  // none: written or failed
  Ref<Block> block_;
};

}  // namespace millrace::devices::cpu
